// Converts an answer to and from the bytes stored in the query cache.
//
// No I/O.
// Threads: pure functions.
// Errors: INVALID_ARGUMENT the bytes are not a stored answer.

#pragma once

#include <string>
#include <string_view>

#include "frontend/model/answer.h"
#include "neptune/base/status.h"

namespace search::frontend {

// Stores results, totals, coverage and the epoch, but not the query, the page and the times, which
// belong to each request.
// REQUIRES: CacheLife(answer) > 0.
std::string ToCachedForm(const SearchAnswer& answer);

// Sets the fields that ToCachedForm stored; `answer` is unchanged on error.
neptune::Status FromCachedForm(std::string_view bytes, SearchAnswer* answer);

// Sets the same fields from an answer that was computed for an equal question.
void AdoptComputed(const SearchAnswer& from, SearchAnswer* answer);

}  // namespace search::frontend
