// The core of a simulation: virtual time, the event queue, the trace hash and the model's random
// numbers.
//
// Threads: Inject from any thread; everything else on the one thread that runs the simulation.
// Limits: see event_queue.h.

#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/event_queue.h"
#include "neptune/world/sim/trace_hash.h"

namespace neptune {

// Derives the seed of random number stream `stream` from `seed`.
uint64_t DeriveSeed(uint64_t seed, uint64_t stream);

class SimKernel {
 public:
  explicit SimKernel(uint64_t seed);
  SimKernel(const SimKernel&) = delete;
  SimKernel& operator=(const SimKernel&) = delete;

  uint64_t seed() const { return seed_; }
  TimePoint now() const { return queue_.now(); }
  uint64_t trace_hash() const { return trace_.value(); }
  uint64_t event_count() const { return event_count_; }
  size_t pending_count() const { return queue_.size(); }
  // Random numbers of the network model and the fault plan; loops have their own.
  RandomSource& random() { return random_; }

  // Runs `task` at `when` on `loop`, or outside every host if `loop` is null. A task for a stopped
  // loop is destroyed at once.
  EventId At(TimePoint when, EventKind kind, LoopState* loop, Task task);
  bool Cancel(EventId id) { return queue_.Remove(id); }

  // Runs `task` on `loop` now, or once its host is not paused and the loop does not hang.
  void RunOn(LoopState* loop, EventKind kind, Task task);

  // Adds delivered bytes to the trace hash.
  void Trace(EventKind kind, const LoopState* loop, std::string_view bytes);

  // Adds a task from a foreign thread; it becomes an event before the next step.
  void Inject(LoopState* loop, Task task) ABSL_LOCKS_EXCLUDED(mutex_);
  bool OnOwnThread() const { return std::this_thread::get_id() == thread_.load(); }
  // Makes the calling thread the one that runs the simulation.
  void AdoptThread() { thread_ = std::this_thread::get_id(); }

  // Runs the next event that is due by `limit`; returns false if there is none.
  bool Step(TimePoint limit);
  void AdvanceTo(TimePoint when) { queue_.AdvanceTo(when); }

  // Resumes a paused host: its deferred events run in their order.
  void Resume(HostState& host);
  // The same for a loop that hangs.
  void Resume(LoopState& loop);
  // Destroys the events of stopped loops.
  void DropStopped();

 private:
  struct Injected {
    LoopState* loop;
    Task task;
  };

  // The list in which events of the loop wait; null: they run.
  static std::vector<uint64_t>* WaitingOf(LoopState* loop);
  void AdoptInjected() ABSL_LOCKS_EXCLUDED(mutex_);
  void TraceRun(const Event& event);
  static void RunAs(const LoopState* loop, Task task);

  const uint64_t seed_;
  EventQueue queue_;
  TraceHash trace_;
  RandomSource random_;
  uint64_t event_count_ = 0;
  std::atomic<std::thread::id> thread_;
  std::atomic<bool> has_injected_{false};
  LeafMutex mutex_;
  std::vector<Injected> injected_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
