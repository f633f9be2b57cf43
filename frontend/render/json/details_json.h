// The parts of a JSON answer that are given if asked for.
//
// Threads: pure functions.

#pragma once

#include <nlohmann/json.hpp>

#include "frontend/model/answer.h"

namespace search::frontend::json {

// REQUIRES: the answer has counts by site.
nlohmann::ordered_json SiteFacetsJson(const SearchAnswer& answer);
nlohmann::ordered_json ExplanationJson(const ScoreExplanation& explanation);

}  // namespace search::frontend::json
