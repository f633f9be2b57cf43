// One timer of a loop for a deadline that changes often and mostly moves away.
//
// The timer is only ever moved to an earlier time. It may fire before the deadline; its owner then
// sets it again. Moving a deadline further away therefore costs nothing.
//
// Threads: the loop only.

#pragma once

#include <utility>

#include "neptune/base/time.h"
#include "neptune/world/loop.h"

namespace neptune {

class DeadlineTimer {
 public:
  explicit DeadlineTimer(Loop& loop) : loop_(loop) {}
  ~DeadlineTimer() { Cancel(); }
  DeadlineTimer(const DeadlineTimer&) = delete;
  DeadlineTimer& operator=(const DeadlineTimer&) = delete;

  // Makes a task run at `deadline` or before; kNever has no effect. `make_task` returns the task,
  // which must begin with HasFired; it is called only if the timer is moved.
  template <typename MakeTask>
  void RunBy(TimePoint deadline, MakeTask make_task) {
    if (deadline == kNever || (timer_ != 0 && at_ <= deadline)) return;
    Cancel();
    at_ = deadline;
    timer_ = loop_.RunAt(deadline, make_task());
  }
  void HasFired() { timer_ = 0; }
  void Cancel() {
    if (timer_ != 0) loop_.CancelTimer(std::exchange(timer_, 0));
  }

 private:
  Loop& loop_;
  TimerId timer_ = 0;  // 0: not set
  TimePoint at_ = kNever;
};

}  // namespace neptune
