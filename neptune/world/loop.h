// An event loop: the owner of timers, sockets and user-level threads of one kernel thread.
//
// Everything above this layer runs on some loop. In the real world a loop is a kernel thread with
// its own poller; in the simulated world all loops of all nodes take turns in one kernel thread, in
// virtual time. Code written against Loop cannot tell the two apart.
//
// Departs from source: none.
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

// A move-only piece of work that runs once on a loop.
using Task = absl::AnyInvocable<void()>;

// Names a pending timer of one loop; 0 is never given out.
using TimerId = uint64_t;

class Loop {
 public:
  virtual ~Loop() = default;

  // The time at which the current turn of the loop began or later; never decreases.
  virtual TimePoint Now() const = 0;

  // Runs `task` on this loop soon, after the tasks posted before it. Any thread. Tasks still queued
  // when the loop stops are destroyed without being run.
  virtual void Post(Task task) = 0;

  // Runs `task` once, not before `when`. Timers of the same time run in the order they were made.
  virtual TimerId RunAt(TimePoint when, Task task) = 0;

  // True if the timer was pending and now will not run; false if it ran, runs or is unknown.
  virtual bool CancelTimer(TimerId timer) = 0;

  // Sockets whose events arrive on this loop.
  virtual Network& network() = 0;

  // The loop's own random numbers: seeded by the world, replayed in the simulated one.
  virtual RandomSource& random() = 0;

  // Bytes that nobody can guess and that never come again, for secrets and nonces; on the loop's thread. Of the operating
  // system in the real world, a system call; of the seed in the simulated one, apart from random().
  virtual void FillUnpredictable(char* bytes, size_t size) = 0;

  // Processor time that the loop's kernel thread has used; on that thread. Zero in the simulated world, where only
  // Processors::Execute takes time. A system call.
  virtual Duration ProcessorTime() const { return Duration(0); }

  // File descriptors that others opened; null in the simulated world, which has none.
  virtual DescriptorReadiness* readiness() { return nullptr; }

  // The loop whose task or event runs on the calling kernel thread, or null.
  static Loop* Current();

 protected:
  // For implementations: a real loop sets itself once on its kernel thread, the simulated world
  // around every task and event it runs. Returns what was current before.
  static Loop* SetCurrent(Loop* loop);
};

}  // namespace neptune
