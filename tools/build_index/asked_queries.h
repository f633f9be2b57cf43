// Chooses from query traces and access logs the questions that may be suggested to everyone.
//
//   trace, access log ─► queries ─► asked in how many different hours? ─► often enough ─► suggested
//
// Privacy: logs name no people, so that one person who asks many times could look like many.
// A query counts once an hour, and one of too few hours is never shown to others, nor is one that
// looks like an address or a number of a person: with an at sign, or six digits in a row.
//
// Reads files (tools/trace/format.md).
// Threads: thread-compatible.
// Errors: those of TraceReader; INVALID_ARGUMENT for a threshold under kAskedHoursMin. Malformed
//   lines are skipped.
// Limits: kAskedQueriesMax different queries are counted at once; of more, rare ones are forgotten.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "index/suggest/asked_query.h"
#include "neptune/base/status.h"

namespace search::tools {

inline constexpr size_t kAskedQueriesMax = size_t{1} << 18;
// The smallest number of hours that may be required.
inline constexpr uint32_t kAskedHoursMin = 3;

// Queries of at least `hours_min` different hours, in ascending order of their folded words. Each
// is spelled as it was asked first; its count is the number of hours.
neptune::StatusOr<std::vector<index::AskedQuery>> ReadAskedQueries(
    const std::vector<std::string>& paths, uint32_t hours_min);

// True if a query may not be shown to others, however often it was asked.
bool LooksPrivate(std::string_view query);

}  // namespace search::tools
