#include "neptune/thread/stretch_clock.h"

#include <algorithm>

namespace neptune {

namespace {

constexpr Duration kTooShortToInterrupt = std::chrono::microseconds(20);
constexpr Duration kAskEvery = std::chrono::microseconds(400);

}  // namespace

void StretchClock::Begin() {
  begin_ = loop_.Now();
  used_ = Duration(0);
  if (begin_ >= ask_at_) AskProcessorTime(begin_);
  known_before_ = processor_time_;
}

Duration StretchClock::Used() {
  const TimePoint now = loop_.Now();
  Duration used = now - begin_;
  if (used >= kTooShortToInterrupt) {
    AskProcessorTime(now);
    used = std::min(used, processor_time_ - known_before_);
  }
  return used_ = std::max(used_, used);
}

void StretchClock::AskProcessorTime(TimePoint now) {
  processor_time_ = loop_.ProcessorTime();
  ask_at_ = now + kAskEvery;
}

}  // namespace neptune
