#include "neptune/thread/work_meter.h"

#include "neptune/thread/user_thread.h"

namespace neptune {

WorkMeter::WorkMeter()
    : loop_(*Loop::Current()),
      thread_(UserThread::Current()),
      outer_(thread_ == nullptr ? nullptr : thread_->meter_) {
  if (thread_ != nullptr) {
    if (outer_ == nullptr) thread_->scheduler().stretch_.Begin();
    thread_->meter_ = this;
  }
  counted_ = -UsedNow();
}

WorkMeter::~WorkMeter() {
  if (thread_ != nullptr) thread_->meter_ = outer_;
}

Duration WorkMeter::Read() const { return counted_ + UsedNow(); }

Duration WorkMeter::UsedNow() const {
  return thread_ == nullptr ? loop_.ProcessorTime() : thread_->scheduler().stretch_.Used();
}

}  // namespace neptune
