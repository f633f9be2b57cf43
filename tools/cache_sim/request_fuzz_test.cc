// Any bytes as lines of a Web server's log, of a sized trace and of an answer table: refused or
// read, within bounds.

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/cache_sim/answer_table.h"
#include "tools/cache_sim/cache_sim.h"
#include "tools/cache_sim/request_line.h"

using namespace search::tools;

namespace {

bool IsPartOf(std::string_view part, std::string_view line) {
  return part.empty() ||
         (part.data() >= line.data() && part.data() + part.size() <= line.data() + line.size());
}

void CheckLine(std::string_view line) {
  const auto sized = ParseSizedLine(line);
  if (sized.ok()) {
    CHECK(!sized->id.empty() && IsPartOf(sized->id, line));
    CHECK_GE(sized->weight.size, 1u);
    CHECK_LE(sized->weight.size, RequestLimits::kSizeMax);
  }
  const auto page = ParseCommonLogLine(line);
  if (page.ok()) {
    CHECK(IsPartOf(page->path, line));
    CHECK_LE(page->size, RequestLimits::kSizeMax);
    CHECK_LE(page->time_s, RequestLimits::kTimeMaxS);
  }
  const auto row = ParseAnswerRow(line);
  if (row.ok()) CHECK_GE(row->size, 1u);
  (void)ParseCacheSize(line);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  while (!bytes.empty()) {
    const size_t end = std::min(bytes.find('\n'), bytes.size());
    CheckLine(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return 0;
}
