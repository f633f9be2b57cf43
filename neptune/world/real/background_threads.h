// The threads of a world's background loops. One whose task runs long steps back when another one
// begins a task, and returns when its own has ended (long_task.h). Internal to world/real.
//
// Their nice values are equal, so the system would let a thread with a long request finish its
// slice of several milliseconds before it lets another one begin. One that has stepped back is
// nicer, where it may return from that (thread_priority.h), and has a longer slice, so a thread
// that is woken runs at once. Nothing costs a system call while no task runs long.
//
// Threads: thread-safe; Add, Return and Remove on the thread that they are about.
// Limits: those of the world's loops.

#pragma once

#include <vector>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/world/real/long_task.h"
#include "neptune/world/real/thread_priority.h"

namespace neptune {

class BackgroundThreads {
 public:
  // The calling thread, whose loop has this task, until Remove. REQUIRES: it has its priority.
  void Add(LongTask& task);
  void Remove(const LongTask& task);

  // A task is given to the thread with `task`: if it is to begin now, long ones step back for it.
  void MakeWay(const LongTask& task, TimePoint now);
  // The calling thread has ended a task for which it had stepped back.
  void Return(LongTask& task);

 private:
  struct Member {
    LongTask* task = nullptr;
    ThreadStanding standing;
  };

  LeafMutex mutex_;
  std::vector<Member> members_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
