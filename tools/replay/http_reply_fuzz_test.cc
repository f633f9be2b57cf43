// Any bytes as HTTP answers, in one piece and in small ones: both ways give the same replies or
// both fail.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/replay/answer_facts.h"
#include "tools/replay/http_reply.h"

namespace {

using search::tools::HttpReply;
using search::tools::HttpReplyReader;

struct Outcome {
  bool failed = false;
  std::vector<std::string> bodies;
};

Outcome ReadIn(std::string_view bytes, size_t piece_size) {
  HttpReplyReader reader;
  Outcome outcome;
  HttpReply reply;
  while (!outcome.failed && !bytes.empty()) {
    std::string_view piece = bytes.substr(0, piece_size);
    bytes.remove_prefix(piece.size());
    for (bool again = true; again; piece = {}) {
      const auto complete = reader.Feed(piece, &reply);
      outcome.failed = !complete.ok();
      again = complete.ok() && *complete;
      if (again) outcome.bodies.emplace_back(reply.body);
    }
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Outcome whole = ReadIn(bytes, bytes.size() + 1);
  const Outcome pieces = ReadIn(bytes, 3);
  CHECK_EQ(whole.failed, pieces.failed);
  CHECK(whole.bodies == pieces.bodies);
  static search::tools::AnswerFactsReader facts_reader;
  const auto facts = facts_reader.Read(bytes);
  if (facts) CHECK(facts->quality >= 0 && facts->quality <= 1);
  return 0;
}
