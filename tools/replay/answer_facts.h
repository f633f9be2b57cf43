// Extracts coverage, cache and termination facts from the JSON of a search answer without building
// the answer.
//
// Source: frontend/render/README.md lists the fields.
// Threads: thread-compatible.
// Limits: the caller bounds the text; the parser's memory is reused between calls.

#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "tools/replay/measurement.h"

namespace search::tools {

class AnswerFactsReader {
 public:
  AnswerFactsReader();
  ~AnswerFactsReader();

  // Returns nothing if `json` is not an answer of a search frontend.
  std::optional<AnswerFacts> Read(std::string_view json);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace search::tools
