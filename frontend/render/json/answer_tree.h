// The documents of json_pages.h as trees: built the obvious way, slowly. Tests compare what is
// written with them, and the benchmark what it costs.
//
// A result's snippet is there twice, as text and as `snippet_pieces`, as it was sent before
// `snippet_matches`.
// Threads: pure functions.

#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "frontend/model/answer.h"

namespace search::frontend::json {

nlohmann::ordered_json AnswerTree(const SearchAnswer& answer);
nlohmann::ordered_json SuggestionsTree(std::string_view typed, std::span<const std::string> texts);
nlohmann::ordered_json StoredTree(const CachedDocument& document);
nlohmann::ordered_json ProblemTree(const ErrorAnswer& error);

}  // namespace search::frontend::json
