// Opens what did not open, e.g. a tier whose replicated data were not open when its node started:
// on a loop of low priority, at growing intervals, until it succeeds.
//
//   Begin ──first delay──► attempt ──OK──► forgotten
//                 ▲          │ fails
//                 └──delay───┘ doubles, up to kTierReopenDelayMax
//
// Threads: thread-safe. Attempts run one at a time on the loop's thread, and block it.
// Errors: those of an attempt are passed to its caller's function, and retried.
// Limits: one attempt at a time for each caller of Begin.

#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/world/loop.h"

namespace search::index {

// Smaller: a partition is served sooner after its data are there; more attempts in vain.
inline constexpr neptune::Duration kTierReopenDelayMin = std::chrono::milliseconds(100);
// Longest time for which a partition is not served although it could be. An attempt that fails
// reads little.
inline constexpr neptune::Duration kTierReopenDelayMax = std::chrono::seconds(10);

class TierReopening : public std::enable_shared_from_this<TierReopening> {
 public:
  struct Task {
    // Blocks. OK: it is open, and the task is forgotten.
    std::function<neptune::Status()> open;
    // Called after each attempt that failed, with when the next one follows.
    std::function<void(const neptune::Status& failure, neptune::Duration delay)> on_failure;
  };

  // The loop outlives all attempts.
  static std::shared_ptr<TierReopening> Make(neptune::Loop& loop) {
    return std::shared_ptr<TierReopening>(new TierReopening(loop));
  }
  // `failure`: why it is not open.
  void Begin(Task task, const neptune::Status& failure);
  // Waits for the attempt under way; no function of a task is called after it returns. Idempotent.
  void Stop();

 private:
  explicit TierReopening(neptune::Loop& loop) : loop_(loop) {}

  void Plan(std::shared_ptr<const Task> task, const neptune::Status& failure,
            neptune::Duration delay) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Attempt(std::shared_ptr<const Task> task, neptune::Duration delay);

  neptune::Loop& loop_;
  neptune::LeafMutex mutex_;  // held during each attempt
  bool has_stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace search::index
