// A service class: a group of requests, and the value of serving one of them.
//
// Source: [Shen02] 4.2.
// Threads: immutable values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "neptune/scheduling/yield_function.h"

namespace neptune {

inline constexpr size_t kServiceClassCountMax = 64;
inline constexpr size_t kServiceClassNameSizeMax = 32;

// Index of a class in the cluster's list.
using ClassNumber = uint32_t;

struct ServiceClassOptions {
  std::string name;
  // Unset: 1 until the caller's deadline.
  std::optional<YieldFunction> yield = {};
  // Guaranteed share of the node's resources if the class demands it, 0 to 1; at most 1 over all
  // classes.
  double guarantee = 0;
  // Maximum number of waiting requests. Larger: longer bursts are accepted, and wait longer.
  // Default: 40, as in the papers.
  size_t queue_length_max = 40;
};

}  // namespace neptune
