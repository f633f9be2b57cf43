// The JSON answer and the RFC 9457 problem document.
//
// README.md of frontend/render lists every field.
// Threads: pure functions.
// Errors: none; invalid UTF-8 becomes U+FFFD, a score that is not finite becomes null.
// Units: *_ms are milliseconds.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "frontend/model/answer.h"

namespace search::frontend::json {

std::string AnswerDocument(const SearchAnswer& answer);
// OpenSearch suggestions: ["typed", ["text", ...]].
std::string SuggestionsDocument(std::string_view typed, std::span<const std::string> texts);
// A stored document with its whole text.
std::string StoredDocument(const CachedDocument& document);
std::string ProblemDocument(const ErrorAnswer& error);

}  // namespace search::frontend::json
