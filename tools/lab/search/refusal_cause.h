// The cause of a refused query, in words that are equal for equal causes.
//
//   503 {"title": "The search is not available",
//        "detail": "too few of 4 index partitions answered (tier1, ...)"}
//     ─► "503 too few of # index partitions answered (tier#, ...)"
//
// Threads: pure function.
// Limits: causes are truncated to kRefusalCauseSizeMax bytes.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace search::lab {

inline constexpr size_t kRefusalCauseSizeMax = 120;

// Returns the status and the detail of the problem document (RFC 9457), with each number replaced
// by '#'; its title if it has no detail, and the status alone if `body` is not a problem document.
std::string RefusalCause(int status, std::string_view body);

}  // namespace search::lab
