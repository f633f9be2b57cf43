// The JSON answer and the RFC 9457 problem document.
//
// Source: design 6 (fields), RFC 9457. README.md of frontend/render lists every field.
// Layer: frontend, render. Threads: pure functions.
// Errors: none; text that is not UTF-8 gets U+FFFD, a score that is not a number becomes null.
// Units: *_ms are milliseconds.

#pragma once

#include <string>

#include "frontend/answer.h"

namespace search::frontend::json {

std::string AnswerDocument(const SearchAnswer& answer);
std::string ProblemDocument(const ErrorAnswer& error);

}  // namespace search::frontend::json
