// Renders an answer as lines of text for a terminal.
//
// Uses the wording of the result page (frontend/render/wording). No I/O. Threads: pure functions.
// Errors: none.
// Limits: those of WrappedText.

#pragma once

#include <string>

#include "frontend/model/answer.h"

namespace search::tools {

struct TerminalPageOptions {
  int width = 80;
  bool has_colours = false;
  // Address of the frontend, for the addresses of cached copies: "http://127.0.0.1:8080".
  std::string base_url = {};
};

std::string TerminalPage(const frontend::SearchAnswer& answer, const TerminalPageOptions& options);

}  // namespace search::tools
