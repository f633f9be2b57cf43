// Deadlines of the children of one node of a reduction tree: each must be early enough for the node to reduce what the
// child sends, late as it may be, and pass the whole on in time.
//
//   kUniform   D_x = D_y: all end together, so what a timed-out child sends comes too late for its parent
//   kStaged    D_x = D_y - a * R_x - delta
//   kLearned   the same; how many reductions a is, the caller learns (stage_learner.h)
//
// for a child x of y; a is the time of one reduction, R_x the rank of x among its siblings by the size of its subtree,
// 1 for the smallest, and delta covers sending and other overheads. The child with the largest subtree ends first:
// results of children that end one after the other, a apart, are reduced one after the other.
//
// With enough time, k servers that never answer cost exactly their k partitions if they are leaves; the uniform
// timeout loses the whole subtree of every child of the root that has one in it.
//
// Source: [Chu03] 4.4.
// Departs from source: none. The paper's min{2^(ceil(log2 k) + 1) - 1, n - 1} for the uniform timeout is what a binomial
//   tree loses if the k leaves fill the root's subtrees from the smallest on: neither the best nor the worst case. One
//   leaf in the largest subtree loses n / 2.
// No I/O, no clock; a node applies it to its own children, and so does each of them below.
// Threads: pure functions.
// Units: TimePoint; kNever stays kNever.
// Limits: O(m log m) for m children.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune {

enum class TimeoutPolicy { kUniform, kStaged, kLearned };

// "uniform", "staged", "learned". Errors: kInvalidArgument any other text.
StatusOr<TimeoutPolicy> ParseTimeoutPolicy(std::string_view name);
std::string_view Name(TimeoutPolicy policy);

struct StageCosts {
  // Mean time of one reduction on the parent: a. Larger: children give up earlier. Negative counts as 0.
  Duration reduce_time{0};
  // Time from a child's deadline until its result is at the parent, apart from reductions: delta. Larger: children give
  // up earlier, and fewer results are late. Default: 2 ms, twenty times a message in one building and the time
  // that a busy machine may take to wake a thread. Negative counts as 0.
  Duration margin = std::chrono::milliseconds(2);
};

// The deadline of each child, in the order given. Never later than the node's own and never before `now`: a child whose
// deadline would have passed already gets `now`, which means that it sends at once what it has; so when time is short
// the children with the largest subtrees go first. If the node's own deadline has passed, all get `now`.
std::vector<TimePoint> ChildDeadlines(TimeoutPolicy policy, TimePoint own_deadline,
                                      std::span<const uint32_t> subtree_sizes,
                                      const StageCosts& costs, TimePoint now);

}  // namespace neptune
