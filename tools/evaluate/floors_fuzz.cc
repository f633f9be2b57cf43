// Any bytes are floors, or refused with a reason; accepted floors have finite bounds, and a value
// at each bound passes the check.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tools/evaluate/floors.h"
#include "tools/streams/memory_source.h"

namespace {

void Require(bool holds) {
  if (!holds) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace search::tools;
  MemorySource source(std::string(reinterpret_cast<const char*>(data), size));
  const auto floors = ReadFloors(&source, "floors");
  if (!floors.ok()) return 0;
  Require(floors->size() <= kFloorsMax);
  for (const Floor& floor : *floors) {
    Require(std::isfinite(floor.bound) && !floor.measure.empty() && !floor.reason.empty());
    Require(CheckFloors({floor}, {{floor.measure, floor.bound}}).ok());
    Require(!CheckFloors({floor}, {}).ok());
  }
  return 0;
}
