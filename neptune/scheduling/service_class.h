// A service class: who asks, or for what, and what serving such a request is worth.
//
// Source: [Shen02] 4.2. Threads: immutable values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "neptune/scheduling/yield_function.h"

namespace neptune {

inline constexpr size_t kServiceClassCountMax = 64;
inline constexpr size_t kServiceClassNameSizeMax = 32;

// Its place among the classes of a cluster.
using ClassNumber = uint32_t;

struct ServiceClassOptions {
  std::string name;
  // Absent: 1 until the caller's deadline.
  std::optional<YieldFunction> yield = {};
  // Share of the node's resources that the class gets if it asks for it, 0 to 1; all of them together at most 1.
  double guarantee = 0;
  // Most waiting requests. Larger: longer bursts are taken, and wait longer. Default: 40, the papers'.
  size_t queue_length_max = 40;
};

}  // namespace neptune
