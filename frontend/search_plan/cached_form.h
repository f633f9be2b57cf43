// An answer to and from the bytes that the query cache keeps.
//
// No I/O.
// Threads: pure functions.
// Errors: INVALID_ARGUMENT bytes that are not a stored answer.

#pragma once

#include <string>
#include <string_view>

#include "frontend/answer.h"
#include "neptune/base/status.h"

namespace search::frontend {

// Results, totals, who was asked and the epoch; not the query, the page and the times, which are the asker's.
// REQUIRES: MayCache(answer).
std::string ToCachedForm(const SearchAnswer& answer);

// Fills in what ToCachedForm kept; `answer` is unchanged after an error.
neptune::Status FromCachedForm(std::string_view bytes, SearchAnswer* answer);

}  // namespace search::frontend
