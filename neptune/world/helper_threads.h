// Kernel threads that may block, for calls that are shipped out of the loops.
//
// Source: [Chu05] IV.B (helper threads handle blocking I/O).
// The real world makes them; the simulated one has none, see World::MakeHelperThreads.
// Threads: thread-safe; not from a helper thread itself.
// Limits: tasks wait without bound: who posts them bounds them, as a device capsule does.

#pragma once

#include "neptune/world/loop.h"

namespace neptune {

class HelperThreads {
 public:
  // Waits for the tasks that run; those that wait are destroyed without being run.
  virtual ~HelperThreads() = default;
  // Runs `task` on one of the threads, after those posted before it have begun.
  virtual void Run(Task task) = 0;
  // As many threads as that from now on, at least 1. Fewer: surplus threads end after the task that they run.
  virtual void SetCount(int count) = 0;
};

}  // namespace neptune
