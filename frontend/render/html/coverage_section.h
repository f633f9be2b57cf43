// The parts of a result page that say how complete the answer is and how it was found.
//
// Threads: pure functions.

#pragma once

#include "frontend/model/answer.h"
#include "frontend/render/markup/markup_writer.h"

namespace search::frontend {

// Writes the banner above the results of a partial answer; writes nothing for a complete answer.
void WritePartialBanner(MarkupWriter& html, const Coverage& coverage);

// Writes a line that expands to a table of services, partitions, implementations, cache and time.
void WriteCoverageDetails(MarkupWriter& html, const SearchAnswer& answer);

}  // namespace search::frontend
