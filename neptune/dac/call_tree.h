// The tree of one call over its placed servers, as the order in which a task lists them.
//
// Source: [Chu03] 4.1, 4.2.
// No I/O, no clock. Threads: a pure function.
// Shapes: both lists have one entry for each server.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/dac/reduction_tree.h"
#include "neptune/world/random_source.h"

namespace neptune {

struct CallTree {
  struct Server {
    int parent = -1;  // -1: the caller
    uint16_t child_count = 0;
  };
  std::vector<size_t> order;  // servers in preorder
  std::vector<Server> servers;
};

// In the scheme `base`, and without servers, the caller is the parent of all.
// Errors: those of FormTree.
StatusOr<CallTree> FormCallTree(TreeScheme scheme, std::span<const TreeServer> servers,
                                RandomSource& random);

}  // namespace neptune
