// Kernel threads that may block, for calls shipped away from the loops.
//
// Source: [Chu05] IV.B (helper threads handle blocking I/O).
// The real world provides them; the simulated one does not, see World::MakeHelperThreads.
// Threads: thread-safe; not from a helper thread itself.
// Limits: the task queue is unbounded; callers bound it, as a device capsule does.

#pragma once

#include "neptune/world/loop.h"

namespace neptune {

class HelperThreads {
 public:
  // Waits for running tasks; waiting tasks are destroyed without being run.
  virtual ~HelperThreads() = default;
  // Runs `task` on one of the threads, once all tasks posted before it have begun.
  virtual void Run(Task task) = 0;
  // Sets the number of threads, at least 1. Surplus threads end after their current task.
  virtual void SetCount(int count) = 0;
};

}  // namespace neptune
