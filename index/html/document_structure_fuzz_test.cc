// Arbitrary bytes after a line of text are refused as a structure of it, or are one that encodes to
// itself but for leading zeros.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "index/html/document_structure.h"

namespace {

void Require(bool fact) {
  if (!fact) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using search::html::StructureLimits;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(input.find('\n'), input.size());
  const std::string_view text = input.substr(0, line);
  const auto structure =
      search::html::ParseStructure(input.substr(std::min(line + 1, input.size())), text);
  if (!structure.ok()) return 0;
  size_t depth = 0;
  uint32_t position = 0;
  for (const auto& event : *structure) {
    Require(event.position >= position && event.position <= text.size());
    position = event.position;
    Require(event.opens || depth > 0);
    depth += event.opens ? 1 : -1;
    Require(depth <= StructureLimits::kDepthMax);
    if (event.opens && event.kind == search::html::ElementKind::kLink) {
      Require(search::html::IsStructureTarget(event.value));
    }
  }
  Require(depth == 0);
  const auto again = search::html::ParseStructure(search::html::EncodeStructure(*structure), text);
  Require(again.ok() && *again == *structure);
  return 0;
}
