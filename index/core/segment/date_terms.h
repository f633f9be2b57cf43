// The terms of a dictionary that together stand for all dates of a range of days: years, months at
// its ends, and days at theirs.
//
// Threads: pure function.
// Errors: DATA_LOSS for a damaged dictionary.
// Limits: one term for each year of the range with documents, and at most 2 * (11 + 30) more.

#pragma once

#include <vector>

#include "index/core/document_fields.h"
#include "index/core/segment/format.h"
#include "index/core/segment/term_dictionary.h"
#include "neptune/base/status.h"

namespace search::index {

// Documents of different terms are different, and all of them have a day in the range.
neptune::StatusOr<std::vector<TermEntry>> FindDateTerms(const TermDictionary& dictionary,
                                                        const DayRange& range);

}  // namespace search::index
