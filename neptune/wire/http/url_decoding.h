// Percent-decoding of paths and queries.
//
// Source: RFC 3986 2.1; WHATWG URL, application/x-www-form-urlencoded ('+' is a blank).
// No I/O.
// Threads: pure functions.
// Errors: INVALID_ARGUMENT a '%' without two hexadecimal digits behind it, a zero byte (%00), more
//   parameters than allowed.
// Limits: the caller bounds the input; decoding never grows it.

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

// "a=1&b=x+y&c" is {a,1}, {b,"x y"}, {c,""}; empty pieces are left out.
StatusOr<std::vector<std::pair<std::string, std::string>>> ParseQueryParameters(
    std::string_view query, size_t count_max);

// `text` as part of a path or a parameter's value: unreserved bytes as they are, the rest as %XX.
std::string PercentEncode(std::string_view text);

}  // namespace neptune
