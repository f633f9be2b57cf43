// The parts of a result page that say how complete the answer is and how it was found.
//
// Threads: pure functions.

#pragma once

#include "frontend/answer.h"
#include "frontend/render/markup/markup_writer.h"

namespace search::frontend {

// The banner above the results of a partial answer; nothing for a complete one.
void WritePartialBanner(MarkupWriter& html, const Coverage& coverage);

// One line that opens to a table: services, partitions, implementations, cache, time.
void WriteCoverageDetails(MarkupWriter& html, const SearchAnswer& answer);

}  // namespace search::frontend
