// Any bytes as the body of an answer: read as facts in their range, or refused.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/replay/answer_facts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static search::tools::AnswerFactsReader reader;
  const auto facts = reader.Read(std::string_view(reinterpret_cast<const char*>(data), size));
  if (facts) CHECK(facts->quality >= 0 && facts->quality <= 1);
  return 0;
}
