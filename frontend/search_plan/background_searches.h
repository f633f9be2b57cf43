// Searches that no client waits for: answers that are computed again after a former one was given.
//
// Threads: thread-safe; Start on user-level threads of the node.
// Limits: `count_max` at once; further ones are dropped.

#pragma once

#include <atomic>
#include <cstddef>

#include "absl/functional/any_invocable.h"
#include "frontend/policy/plan_metrics.h"
#include "neptune/base/status.h"

namespace search::frontend {

class BackgroundSearches {
 public:
  BackgroundSearches(size_t count_max, const PlanMetrics& metrics)
      : count_max_(count_max), metrics_(metrics) {}

  // Runs `search` on a user-level thread of its own. This must outlive it: see count().
  void Start(absl::AnyInvocable<neptune::Status()> search);
  // Starts none from now on.
  void StartNoMore() { stops_ = true; }
  // Searches in progress.
  size_t count() const { return count_; }

 private:
  const size_t count_max_;
  const PlanMetrics& metrics_;
  std::atomic<size_t> count_{0};
  std::atomic<bool> stops_{false};
};

}  // namespace search::frontend
