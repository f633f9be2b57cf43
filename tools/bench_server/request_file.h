// Prepared requests, as their bytes go over the connection.
//
// A file is a sequence of `SIZE\n` and SIZE bytes, so that one file can hold requests of any
// protocol; README.md has an example.
//
// Threads: pure functions.
// Errors: INVALID_ARGUMENT names the request that is malformed, or says that there is none.
// Limits: kRequestCountMax requests of at most kRequestSizeMax bytes.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace search::tools {

inline constexpr size_t kRequestCountMax = 1'000'000;
inline constexpr size_t kRequestSizeMax = size_t{1} << 20;

neptune::StatusOr<std::vector<std::string>> ParseRequests(std::string_view bytes);

}  // namespace search::tools
