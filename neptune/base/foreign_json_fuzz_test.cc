// Any text is refused, or gives a document within the limits: the one that a parser without limits
// reads from it.

#include <glog/logging.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "neptune/base/foreign_json.h"

namespace {

using nlohmann::json;

size_t DepthOf(const json& value) {
  if (!value.is_structured()) return 0;
  size_t deepest = 0;
  for (const json& one : value) deepest = std::max(deepest, DepthOf(one));
  return 1 + deepest;
}

size_t CountOf(const json& value) {
  size_t count = 1;
  for (const json& one : value) count += one.is_structured() ? CountOf(one) : 1;
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr neptune::JsonLimits kLimits{.size_max = 2048, .depth_max = 6, .value_count_max = 64};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = neptune::ReadForeignJson(text, kLimits);
  if (!read.ok()) return 0;
  CHECK_LE(size, kLimits.size_max);
  CHECK_LE(DepthOf(*read), kLimits.depth_max);
  if (read->is_structured()) CHECK_LE(CountOf(*read), kLimits.value_count_max);
  CHECK_EQ(*read, json::parse(text));
  return 0;
}
