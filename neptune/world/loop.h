// An event loop: the owner of timers, sockets and user-level threads of one kernel thread.
//
// All code above this layer runs on some loop. In the real world a loop is a kernel thread with its
// own poller; in the simulated world all loops of all nodes share one kernel thread, in virtual
// time. Code written against Loop cannot distinguish them.
//
// Threads: Post may be called from any thread; everything else only on the loop's own thread.
// Units: TimePoint is monotonic world time.
// Limits: a task must not block the kernel thread; it reacts and returns.

#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/functional/any_invocable.h"
#include "neptune/base/time.h"

namespace neptune {

class DescriptorReadiness;
class Network;
class RandomSource;

// Move-only work that runs once on a loop.
using Task = absl::AnyInvocable<void()>;

// Identifies a pending timer of one loop; 0 is never used.
using TimerId = uint64_t;

class Loop {
 public:
  virtual ~Loop() = default;

  // The current time, or the time at which the current turn of the loop began; never decreases.
  virtual TimePoint Now() const = 0;

  // A time that Now returned during the loop's current turn, for what needs no better one: it costs
  // no reading of a clock. Only on the loop's thread.
  virtual TimePoint TurnTime() const { return Now(); }

  // Runs `task` on this loop soon, after the tasks posted before it. Any thread. Tasks still queued
  // when the loop stops are destroyed without being run.
  virtual void Post(Task task) = 0;

  // Runs `task` once, not before `when`. Timers with equal times run in the order they were added.
  virtual TimerId RunAt(TimePoint when, Task task) = 0;

  // Returns true if the timer was pending and will not run; false if it ran, is running or is
  // unknown.
  virtual bool CancelTimer(TimerId timer) = 0;

  // Network whose events arrive on this loop.
  virtual Network& network() = 0;

  // The loop's random numbers; seeded by the world and reproducible in the simulated one.
  virtual RandomSource& random() = 0;

  // Fills `bytes` with unpredictable bytes that never repeat, for secrets and nonces. Only on the
  // loop's thread. The real world takes them from the operating system (a system call); the
  // simulated one derives them from the seed, independently of random().
  virtual void FillUnpredictable(char* bytes, size_t size) = 0;

  // Processor time used by the loop's kernel thread; only on that thread. Zero in the simulated
  // world, where only Processors::Execute takes time. Costs a system call.
  virtual Duration ProcessorTime() const { return Duration(0); }

  // Readiness of foreign file descriptors; null in the simulated world, which has none.
  virtual DescriptorReadiness* readiness() { return nullptr; }

  // Returns the loop whose task or event is running on the calling kernel thread, or null.
  static Loop* Current();

 protected:
  // For implementations: a real loop sets itself once on its kernel thread, the simulated world
  // around every task and event it runs. Returns the previous value.
  static Loop* SetCurrent(Loop* loop);
};

}  // namespace neptune
