// Percent-decoding of paths and queries.
//
// Source: RFC 3986 2.1; WHATWG URL, application/x-www-form-urlencoded ('+' is a blank).
// No I/O.
// Threads: pure functions.
// Errors: INVALID_ARGUMENT a '%' that is not followed by two hexadecimal digits, a zero byte (%00),
//   more parameters than allowed.
// Limits: the caller bounds the input; the output is never longer.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/base/status.h"

namespace neptune {

enum class PlusMeaning { kPlus, kBlank };

StatusOr<std::string> PercentDecode(std::string_view text, PlusMeaning plus);

// "a=1&b=x+y&c" is {a,1}, {b,"x y"}, {c,""}; empty pieces are skipped.
StatusOr<std::vector<std::pair<std::string, std::string>>> ParseQueryParameters(
    std::string_view query, size_t count_max);

// Encodes `text` for a path or a parameter's value: unreserved bytes are unchanged, others become
// %XX.
std::string PercentEncode(std::string_view text);

}  // namespace neptune
