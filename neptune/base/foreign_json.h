// Reads JSON that others wrote: clients, other nodes, services that are not the project's.
//
// A parser builds a value for each bracket and comma, so that a few bytes need much memory, and
// what walks through the values afterwards calls itself once for each level. Depth and number of
// values are therefore checked in one pass over the text, which needs no memory and ends at the
// first excess, before anything is built.
//
// Source: RFC 8259 9 (limits of a parser); nlohmann's JSON does the work.
// No I/O.
// Threads: pure functions.
// Errors: INVALID_ARGUMENT names the limit that the text exceeds, or says that it is not JSON. No
//   exception leaves, except for lack of memory.
// Limits: JsonLimits. A value needs up to some 150 bytes, in addition to its text.

#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

#include "neptune/base/status.h"

namespace neptune {

struct JsonLimits {
  // Bytes of the text.
  size_t size_max = size_t{1} << 20;
  // Arrays and objects within each other. Default: 16, more than the project's own documents have.
  size_t depth_max = 16;
  // Values and names of members, of which malformed text may seem to have more than it has.
  size_t value_count_max = 100'000;
};

// OK: what a parser takes from the text before its end or its first error is within the limits. The
// text may still be malformed.
Status CheckJsonLimits(std::string_view text, const JsonLimits& limits);

StatusOr<nlohmann::json> ReadForeignJson(std::string_view text, const JsonLimits& limits = {});

}  // namespace neptune
