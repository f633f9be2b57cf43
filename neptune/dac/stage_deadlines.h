// Deadlines of the children of a node in a reduction tree. Each deadline leaves the node enough
// time to reduce the child's result, even if it arrives at the deadline, and to send its own answer
// in time.
//
//   kUniform   D_x = D_y: all end together, so the result of a timed-out child arrives too late
//   kStaged    D_x = D_y - a * R_x - delta
//   kLearned   the same; the caller learns the length of a in reductions (stage_learner.h)
//
// Here x is a child of y, a is the time of one reduction, R_x is the rank of x among its siblings
// by the size of its subtree, 1 for the smallest, and delta covers sending and other overheads. The
// child with the largest subtree ends first; the results of children that end at intervals of a are
// reduced one after the other.
//
// With enough time, k servers that never answer cost exactly their k partitions if they are leaves.
// With the uniform timeout each costs the whole subtree of the root's child that contains it.
//
// Source: [Chu03] 4.4. The paper's min{2^(ceil(log2 k) + 1) - 1, n - 1} for the uniform timeout is
//   the loss of a binomial tree if the k leaves fill the root's subtrees from the smallest on,
//   which is neither the best nor the worst case: one leaf in the largest subtree loses n / 2.
// No I/O, no clock. A node applies this to its own children, and each child to its own in turn.
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
  // Mean time of one reduction on the parent: a. Larger: children end earlier. Negative counts as
  // 0.
  Duration reduce_time{0};
  // Time from a child's deadline until its result is at the parent, without reductions: delta.
  // Larger: children end earlier, and fewer results are late. Default: 2 ms, twenty times the delay
  // of a message in one building, and the time that a busy machine may take to wake a thread.
  // Negative counts as 0.
  Duration margin = std::chrono::milliseconds(2);
};

// Returns the deadline of each child, in the order given; never later than the node's own and never
// before `now`. A child whose deadline would be in the past gets `now`, i.e. it sends at once the
// result that it has; if time is short this affects the children with the largest subtrees first.
// If the node's own deadline has passed, all get `now`.
std::vector<TimePoint> ChildDeadlines(TimeoutPolicy policy, TimePoint own_deadline,
                                      std::span<const uint32_t> subtree_sizes,
                                      const StageCosts& costs, TimePoint now);

}  // namespace neptune
