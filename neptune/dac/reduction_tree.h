// Reduction trees: which server's results are reduced on which server, for one data aggregation call.
//
//   kFlat       a root drawn at random, all others its children
//   kBinomial   a binomial tree, servers placed at random
//   kLoadAdaptive
//     1. What is known of each server comes in: its pending work and what its operators cost.
//     2. The n - 1 reductions go one by one to the server that has the least work with one more.
//     3. Servers by their number of reductions, descending, fill the tree in breadth-first order: each has as many
//        children as reductions. So the lightest is the root and the heavy ones are leaves.
//     4. Where that leaves long linked lists, load-aware binomial trees take their place: positions by number of
//        children, servers by load, so that the height stays within log n.
//
// What holds of a load-adaptive tree, for a server A that is no heavier than B and lighter in its load or its cost:
//   A has not fewer children than B; at the same depth A's subtree is not shallower than B's;
//   the height is at most ceil(log2 n).
//
// Source: [Chu03] 4.1, 4.2, figures 7, 9 and 10.
// Departs from source:
//   - Ties of step 3 go to the lighter server; with the paper's rule (the heavier) the second property fails.
//   - Step 4 as printed keeps the height but breaks the first property from 10 servers on: the binomial tree in place
//     of a list of five or more gives its root three children, more than a lighter server above may have. So the
//     replacement begins higher up where it must: with the last servers that have two reductions or more, as few of
//     them as restore both properties, and their whole subtrees become binomial trees. Servers are matched with the
//     positions of all replaced subtrees together.
//   - A list of two is a binomial tree already.
//   - A truncated binomial tree's positions that tie in children and depth go by the size of their subtrees.
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
  kBase,  // no tree: the caller asks everyone and reduces
  kFlat,
  kBinomial,
  kLoadAdaptive,
};

// "base", "flat", "binomial", "lat". Errors: kInvalidArgument any other text.
StatusOr<TreeScheme> ParseTreeScheme(std::string_view name);
std::string_view Name(TreeScheme scheme);

// What the scheme needs to know of one server. Negative values count as 0, a reduction as at least a nanosecond.
struct TreeServer {
  Duration load{0};  // pending work, now
  Duration local_cost{
      0};  // local operators of its partitions and the reductions among their results
  Duration reduce_cost{0};  // one reduction of two results
};

// A tree over servers 0 .. size() - 1, at least one. 20 bytes a server, five allocations.
class ReductionTree {
 public:
  // parents[i] is the parent of server i, -1 for the root: what travels with a request.
  // Errors: kInvalidArgument no server, too many, or the parents are not one tree.
  static StatusOr<ReductionTree> FromParents(std::vector<int32_t> parents);

  size_t size() const { return parents_.size(); }
  size_t root() const { return root_; }
  int32_t parent(size_t server) const { return parents_[server]; }
  std::span<const int32_t> parents() const { return parents_; }
  // Largest subtree first, ties by index: the order in which to pass a request on.
  std::span<const uint32_t> Children(size_t server) const {
    return {children_.data() + child_offsets_[server],
            children_.data() + child_offsets_[server + 1]};
  }
  // Servers in the subtree, itself among them.
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
  std::vector<uint32_t>
      child_offsets_;  // size() + 1 of them: where each server's children begin in children_
  std::vector<uint32_t> children_;
  std::vector<uint32_t> subtree_sizes_;
  std::vector<uint32_t> depths_;
  size_t root_ = 0;
  size_t height_ = 0;
};

// Errors: kInvalidArgument no server, too many, or kBase, which has no tree.
StatusOr<ReductionTree> FormTree(TreeScheme scheme, std::span<const TreeServer> servers,
                                 RandomSource& random);

// Step 2 alone: how many reductions each server is given, in all servers.size() - 1.
// REQUIRES: 1 <= servers.size() <= kReductionServerCountMax. Ties at random.
std::vector<uint32_t> AssignReductions(std::span<const TreeServer> servers, RandomSource& random);

}  // namespace neptune
