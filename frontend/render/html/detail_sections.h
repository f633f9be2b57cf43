// The parts of a result page that are shown if asked for: counts by site as chips that narrow the
// question, and how the score of a result came about.
//
// Threads: pure functions.

#pragma once

#include "frontend/model/answer.h"
#include "frontend/render/markup/markup_writer.h"

namespace search::frontend {

// Writes the sites with their counts; without counts a link that asks for them. Nothing if there
// are no results.
void WriteSites(MarkupWriter& html, const SearchAnswer& answer);

// Writes a link to the same results in the other order; nothing if there are none.
void WriteOrder(MarkupWriter& html, const SearchAnswer& answer);

// Writes a line with the score that expands to a table of its parts; nothing if the result is not
// explained.
void WriteExplanation(MarkupWriter& html, const SearchResult& result);

// Writes what could not be explained; without explanations a link that asks for them.
void WriteExplanationNote(MarkupWriter& html, const SearchAnswer& answer);

}  // namespace search::frontend
