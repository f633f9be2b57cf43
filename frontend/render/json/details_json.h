// The parts of a JSON answer that are given if asked for.
//
// Threads: pure functions.

#pragma once

#include "frontend/model/answer.h"
#include "frontend/render/json/json_writer.h"

namespace search::frontend::json {

// REQUIRES: the answer has counts by site.
void WriteSiteFacets(JsonWriter& json, const SearchAnswer& answer);
void WriteExplanation(JsonWriter& json, const ScoreExplanation& explanation);

}  // namespace search::frontend::json
