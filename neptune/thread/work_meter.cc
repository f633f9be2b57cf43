#include "neptune/thread/work_meter.h"

#include "neptune/thread/user_thread.h"

namespace neptune {

WorkMeter::WorkMeter()
    : loop_(*Loop::Current()),
      thread_(UserThread::Current()),
      outer_(thread_ == nullptr ? nullptr : thread_->meter_),
      resumed_at_(loop_.ProcessorTime()) {
  if (thread_ != nullptr) thread_->meter_ = this;
}

WorkMeter::~WorkMeter() {
  if (thread_ != nullptr) thread_->meter_ = outer_;
}

}  // namespace neptune
