// Any bytes as responses, in one piece and in small ones: both ways give the same responses within
// the limits, or both fail after the same ones.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/wire/http/response_reader.h"

namespace {

using neptune::HttpResponseReader;

constexpr neptune::HttpResponseReaderOptions kLimits{.header_size_max = 2048,
                                                     .body_size_max = 4096};

struct Outcome {
  bool failed = false;
  std::vector<std::string> responses;
};

void ReadAll(HttpResponseReader* reader, Outcome* outcome) {
  while (true) {
    const auto next = reader->Next();
    outcome->failed = !next.ok();
    if (!next.ok() || !next->has_value()) return;
    CHECK_LE((*next)->body.size(), kLimits.body_size_max);
    outcome->responses.push_back(
        neptune::StrCat((*next)->status, reader->keep_alive() ? " " : " close ", (*next)->body));
  }
}

Outcome ReadIn(std::string_view bytes, size_t piece_size) {
  HttpResponseReader reader(kLimits);
  Outcome outcome;
  while (!outcome.failed && !bytes.empty()) {
    const std::string_view piece = bytes.substr(0, piece_size);
    bytes.remove_prefix(piece.size());
    reader.Feed(piece);
    ReadAll(&reader, &outcome);
  }
  reader.FeedEnd();
  ReadAll(&reader, &outcome);
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Outcome whole = ReadIn(bytes, bytes.size() + 1);
  const Outcome pieces = ReadIn(bytes, 3);
  CHECK_EQ(whole.failed, pieces.failed);
  CHECK(whole.responses == pieces.responses);
  return 0;
}
