// What a search answer tells of how it was made, taken from its JSON without building the answer.
//
// Source: frontend/render/README.md lists the fields.
// Threads: thread-compatible.
// Limits: the caller bounds the text; memory for it is kept between calls.

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

  // Nothing if `json` is no answer of a search frontend.
  std::optional<AnswerFacts> Read(std::string_view json);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace search::tools
