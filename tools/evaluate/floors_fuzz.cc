// Any bytes are floors, or refused with a reason; accepted floors have finite bounds, and a value
// at each bound passes the check.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tools/evaluate/floors.h"

namespace {

class MemorySource final : public search::tools::ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}

  neptune::StatusOr<size_t> Read(char* buffer, size_t size) override {
    size = std::min(size, bytes_.size() - at_);
    std::memcpy(buffer, bytes_.data() + at_, size);
    at_ += size;
    return size;
  }
  uint64_t file_position() const override { return at_; }

 private:
  const std::string_view bytes_;
  size_t at_ = 0;
};

void Require(bool holds) {
  if (!holds) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace search::tools;
  MemorySource source(std::string_view(reinterpret_cast<const char*>(data), size));
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
