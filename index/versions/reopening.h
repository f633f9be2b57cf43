// Opens what did not open, e.g. a tier whose replicated data were not open when its node started,
// or what was found damaged: on a loop of low priority, at growing intervals, until it succeeds.
//
//   Begin ──first delay──► attempt ──OK──► forgotten
//                 ▲          │ fails
//                 └──delay───┘ doubles, up to kReopenDelayMax
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
inline constexpr neptune::Duration kReopenDelayMin = std::chrono::milliseconds(100);
// Longest time for which a partition is not served although it could be. An attempt that fails
// reads little.
inline constexpr neptune::Duration kReopenDelayMax = std::chrono::seconds(10);

// Delay of the first attempt after damage was found. Larger: a partition whose files are sound
// after all is away longer. Default: longer than a tick of the kernel's clock, so that files do not
// change in the tick in which they are opened.
inline constexpr neptune::Duration kDamageReopenDelay = std::chrono::seconds(1);

class Reopening : public std::enable_shared_from_this<Reopening> {
 public:
  struct Task {
    // Blocks. OK: it is open, and the task is forgotten.
    std::function<neptune::Status()> open;
    // Called after each attempt that failed, with when the next one follows.
    std::function<void(const neptune::Status& failure, neptune::Duration delay)> on_failure;
  };

  // The loop outlives all attempts.
  static std::shared_ptr<Reopening> Make(neptune::Loop& loop) {
    return std::shared_ptr<Reopening>(new Reopening(loop));
  }
  // `failure`: why it is not open; `delay`: before the first attempt. May wait for an attempt under
  // way, so a loop that serves posts it to the other one.
  void Begin(Task task, const neptune::Status& failure, neptune::Duration delay = kReopenDelayMin);
  // Waits for the attempt under way; no function of a task is called after it returns. Idempotent.
  void Stop();

 private:
  explicit Reopening(neptune::Loop& loop) : loop_(loop) {}

  void Plan(std::shared_ptr<const Task> task, const neptune::Status& failure,
            neptune::Duration delay) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Attempt(std::shared_ptr<const Task> task, neptune::Duration delay);

  neptune::Loop& loop_;
  neptune::LeafMutex mutex_;  // held during each attempt
  bool has_stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace search::index
