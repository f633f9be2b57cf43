// Draws a reduction tree as text, one line per server:
//
//   n3        p3, 0.4 ms, answered
//   ├─ n1     p1 p5, 0.9 ms, answered
//   │  └─ n4  p4, 3.1 ms, deadline passed
//   └─ n2     p2, 1.2 ms, answered
//
// Threads: pure functions.
// Shapes: servers in any order; children are drawn in the order given.
// Limits: kDrawnServerCountMax lines, then the number of omitted servers. Servers that are not
//   connected to a root (an invalid parent, a cycle) are listed after the tree with a question
//   mark, so that any input can be drawn.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace neptune {

inline constexpr size_t kDrawnServerCountMax = 512;

struct DrawnServer {
  std::string name;
  int32_t parent = -1;  // index of the server above; -1: a root
  std::string text;     // one line: partitions, load, outcome
};

// Returns lines that end in '\n'; empty if there is no server.
std::string DrawTree(std::span<const DrawnServer> servers);

}  // namespace neptune
