// Any bytes as an answer or as a file of requests: an answer that is found lies within the bytes,
// and is found again without what follows it; requests are no larger than their file.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/bench_server/answer_scan.h"
#include "tools/bench_server/request_file.h"

namespace search::tools {
namespace {

void CheckScan(AnswerScan (*scan)(std::string_view, bool), std::string_view bytes) {
  for (const bool at_end : {false, true}) {
    const AnswerScan found = scan(bytes, at_end);
    CHECK(!at_end || found.state != AnswerScan::State::kMore);
    if (found.state != AnswerScan::State::kDone) continue;
    CHECK_LE(found.size, bytes.size());
    const AnswerScan again = scan(bytes.substr(0, found.size), at_end);
    CHECK(again.state == AnswerScan::State::kDone);
    CHECK_EQ(again.size, found.size);
  }
}

}  // namespace
}  // namespace search::tools

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  search::tools::CheckScan(&search::tools::ScanHttpAnswer, bytes);
  search::tools::CheckScan(&search::tools::ScanRedisAnswer, bytes);
  const auto requests = search::tools::ParseRequests(bytes);
  if (!requests.ok()) return 0;
  size_t sum = 0;
  for (const std::string& request : *requests) sum += request.size();
  CHECK_LT(sum, size);
  return 0;
}
