// Reduction trees: assign the reductions of one data aggregation call to servers.
//
//   kFlat       a random root, all other servers are its children
//   kBinomial   a binomial tree, servers placed at random
//   kLoadAdaptive
//     1. Input: the pending work and the operator costs of each server.
//     2. The n - 1 reductions are assigned one by one to the server that then has the least
//        work.
//     3. The servers, in descending order of their number of reductions, fill the tree breadth
//        first; each has as many children as reductions. The lightest server becomes the root,
//        heavy servers become leaves.
//     4. Long linked lists are replaced by load-aware binomial trees: positions by number of
//        children, servers by load, so that the height is at most ceil(log2 n).
//
// Properties of a load-adaptive tree, for a server A that is lighter than B in load or cost, and
// heavier in neither: A has at least as many children as B; at the same depth, A's subtree is at
// least as deep as B's. The height is at most ceil(log2 n).
//
// Source: [Chu03] 4.1, 4.2, figures 7, 9 and 10.
// Departs from source:
//   - Ties of step 3 go to the lighter server; with the paper's rule (the heavier one) the second
//     property fails.
//   - Step 4 as printed bounds the height but violates the first property from 10 servers on: the
//     binomial tree that replaces a list of five or more gives its root three children, possibly
//     more than a lighter server above has. If necessary, the replacement therefore begins higher
//     up: the smallest number of the last servers with two or more reductions that restores both
//     properties is included, and their whole subtrees become binomial trees. Servers are matched
//     with the positions of all replaced subtrees together.
//   - A list of two is left, because it is a binomial tree already.
//   - Positions of a truncated binomial tree that tie in children and depth are ordered by subtree
//     size.
// No I/O, no clock, no threads.
// Threads: a tree is immutable once formed.
// Units: Duration is time on the server in question.
// Limits: kReductionServerCountMax servers; O(n log n).

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/world/random_source.h"

namespace neptune {

inline constexpr size_t kReductionServerCountMax = 65536;

enum class TreeScheme {
  kBase,  // no tree: the caller sends the task to every server and reduces
  kFlat,
  kBinomial,
  kLoadAdaptive,
};

// "base", "flat", "binomial", "lat". Errors: kInvalidArgument any other text.
StatusOr<TreeScheme> ParseTreeScheme(std::string_view name);
std::string_view Name(TreeScheme scheme);

// Input of a scheme for one server. Negative values count as 0, a reduction as at least a
// nanosecond.
struct TreeServer {
  Duration load{0};         // current pending work
  Duration local_cost{0};   // local operators of its partitions and the reductions of their results
  Duration reduce_cost{0};  // one reduction of two results
};

// A tree over servers 0 .. size() - 1, at least one. 20 bytes per server, five allocations.
class ReductionTree {
 public:
  // Makes a tree in which parents[i] is the parent of server i, -1 for the root.
  // Errors: kInvalidArgument no server, too many, or the parents do not form one tree.
  static StatusOr<ReductionTree> FromParents(std::vector<int32_t> parents);

  size_t size() const { return parents_.size(); }
  size_t root() const { return root_; }
  int32_t parent(size_t server) const { return parents_[server]; }
  std::span<const int32_t> parents() const { return parents_; }
  // Children by descending subtree size, ties by index: the order in which to forward a request.
  std::span<const uint32_t> Children(size_t server) const {
    return {children_.data() + child_offsets_[server],
            children_.data() + child_offsets_[server + 1]};
  }
  // Number of servers in the subtree, including the server itself.
  size_t SubtreeSize(size_t server) const { return subtree_sizes_[server]; }
  // Edges between the root and the server.
  size_t Depth(size_t server) const { return depths_[server]; }
  // Depth of the deepest server.
  size_t Height() const { return height_; }

 private:
  ReductionTree() = default;
  Status ListChildren();
  Status Measure();

  std::vector<int32_t> parents_;
  // Begin of each server's children in children_; size() + 1 entries.
  std::vector<uint32_t> child_offsets_;
  std::vector<uint32_t> children_;
  std::vector<uint32_t> subtree_sizes_;
  std::vector<uint32_t> depths_;
  size_t root_ = 0;
  size_t height_ = 0;
};

// Forms the tree of the scheme. Errors: kInvalidArgument no server, too many, or kBase, which has
// no tree.
StatusOr<ReductionTree> FormTree(TreeScheme scheme, std::span<const TreeServer> servers,
                                 RandomSource& random);

// Step 2 alone: returns the number of reductions of each server, servers.size() - 1 in total. Ties
// are broken at random. REQUIRES: 1 <= servers.size() <= kReductionServerCountMax.
std::vector<uint32_t> AssignReductions(std::span<const TreeServer> servers, RandomSource& random);

}  // namespace neptune
