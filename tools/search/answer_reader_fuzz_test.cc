// Any bytes as a frontend's answer: refused or shown, with no byte that commands a terminal.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/search/answer_reader.h"
#include "tools/search/terminal_page.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  CHECK(!search::tools::ReadProblem(500, json).ok());
  const auto answer = search::tools::ReadAnswer(json);
  if (!answer.ok()) return 0;
  CHECK_LE(answer->results.size(), search::tools::kResultsReadMax);
  for (char c : search::tools::TerminalPage(*answer, {.width = 40})) {
    CHECK(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  }
  return 0;
}
