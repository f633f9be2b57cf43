// The names of clusters, nodes and services: safe in files, units, log lines and on terminals.
//
// Threads: pure function.

#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace neptune {

inline constexpr size_t kPlainNameSizeMax = 63;

// True for 1 to kPlainNameSizeMax ASCII letters, digits, '-', '_' and '.'.
inline bool IsPlainName(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= kPlainNameSizeMax &&
         std::all_of(name.begin(), name.end(), is_plain);
}

}  // namespace neptune
