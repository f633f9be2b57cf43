// Draws a reduction tree as text, a line for each server:
//
//   n3        p3, 0.4 ms, answered
//   ├─ n1     p1 p5, 0.9 ms, answered
//   │  └─ n4  p4, 3.1 ms, deadline passed
//   └─ n2     p2, 1.2 ms, answered
//
// Threads: pure functions.
// Shapes: servers in any order; children stand in the order given.
// Limits: kDrawnServerCountMax lines, then how many were left out. What hangs on no root (a wrong parent, a cycle) is
//   listed after the tree with a question mark, so that any input is drawn.

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
  std::string text;     // what is told of it: partitions, load, outcome; one line
};

// Lines end in '\n'; empty for no server.
std::string DrawTree(std::span<const DrawnServer> servers);

}  // namespace neptune
