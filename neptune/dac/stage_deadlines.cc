#include "neptune/dac/stage_deadlines.h"

#include <algorithm>
#include <numeric>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

// Indices by subtree size ascending, ties by index: the first has rank 1.
std::vector<uint32_t> ByRank(std::span<const uint32_t> subtree_sizes) {
  std::vector<uint32_t> order(subtree_sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return subtree_sizes[a] < subtree_sizes[b]; });
  return order;
}

// Returns max(deadline - time, now) without overflow.
TimePoint EarlierBy(TimePoint deadline, Duration time, TimePoint now) {
  if (deadline == kNever) return kNever;
  if (deadline <= now) return now;
  return deadline - now <= time ? now : deadline - time;
}

}  // namespace

StatusOr<TimeoutPolicy> ParseTimeoutPolicy(std::string_view name) {
  if (name == Name(TimeoutPolicy::kUniform)) return TimeoutPolicy::kUniform;
  if (name == Name(TimeoutPolicy::kStaged)) return TimeoutPolicy::kStaged;
  if (name == Name(TimeoutPolicy::kLearned)) return TimeoutPolicy::kLearned;
  return InvalidArgument("'", name,
                         "' is not a timeout policy; expected uniform, staged or learned");
}

std::string_view Name(TimeoutPolicy policy) {
  if (policy == TimeoutPolicy::kUniform) return "uniform";
  return policy == TimeoutPolicy::kStaged ? "staged" : "learned";
}

std::vector<TimePoint> ChildDeadlines(TimeoutPolicy policy, TimePoint own_deadline,
                                      std::span<const uint32_t> subtree_sizes,
                                      const StageCosts& costs, TimePoint now) {
  std::vector<TimePoint> deadlines(subtree_sizes.size(), EarlierBy(own_deadline, Duration(0), now));
  if (policy == TimeoutPolicy::kUniform) return deadlines;
  // Starts from the smallest subtree; each step is bounded by `now`, so that arbitrary costs are
  // safe.
  TimePoint next = EarlierBy(own_deadline, std::max(costs.margin, Duration(0)), now);
  for (const uint32_t child : ByRank(subtree_sizes)) {
    next = EarlierBy(next, std::max(costs.reduce_time, Duration(0)), now);
    deadlines[child] = next;
  }
  return deadlines;
}

}  // namespace neptune
