// Why a frontend refused a query, in words that are the same for all queries that it refused for the same reason.
//
//   503 {"title": "The search is not available", "detail": "too few of 4 index partitions answered (tier1, ...)"}
//     ─► "503 too few of # index partitions answered (tier#, ...)"
//
// Threads: pure function.
// Limits: a cause is at most kRefusalCauseSizeMax bytes; what is longer is cut.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace search::lab {

inline constexpr size_t kRefusalCauseSizeMax = 120;

// The status, and the detail of the problem document (RFC 9457), or its title, or nothing if `body` is none; each number
// of the detail is '#'.
std::string RefusalCause(int status, std::string_view body);

}  // namespace search::lab
