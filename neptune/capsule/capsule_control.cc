#include "neptune/capsule/capsule_control.h"

#include <algorithm>

namespace neptune {

CapsuleControl::CapsuleControl(const CapsuleLimits& limits, const FeedbackOptions& feedback)
    : limits_(limits), feedback_(feedback) {}

Duration CapsuleControl::FeedbackTimeout() const {
  const size_t resident_count = resident_count_ + reserved_count_;
  if (!HasFeedback() || resident_count <= feedback_.low_watermark) return limits_.timeout;
  if (resident_count >= feedback_.high_watermark) return Duration(0);
  const auto left = static_cast<double>(feedback_.high_watermark - resident_count);
  const auto whole = static_cast<double>(feedback_.high_watermark - feedback_.low_watermark);
  return Duration(
      static_cast<int64_t>(static_cast<double>(limits_.timeout.count()) * left / whole));
}

bool CapsuleControl::IsFull() const {
  const size_t resident_count = resident_count_ + reserved_count_;
  const bool throttled = limits_.throttle_count > 0 && resident_count >= limits_.throttle_count;
  return throttled || resident_count >= limits_.resident_count_max;
}

bool CapsuleControl::TimeoutIsTooShort(Duration timeout) const {
  const Duration floor(
      static_cast<int64_t>(static_cast<double>(limits_.timeout.count()) * feedback_.bypass_share));
  return HasFeedback() && timeout < floor;
}

CapsuleControl::Admission CapsuleControl::Enter(TimePoint now) {
  if (IsFull()) {
    ++statistics_.refused;
    return {Verdict::kRefuse, Duration(0)};
  }
  const Admission admission = Admit(now, FeedbackTimeout());
  if (admission.verdict == Verdict::kBypass) {
    ++statistics_.bypassed;
    return admission;
  }
  ++resident_count_;
  ++statistics_.entered;
  statistics_.resident_count_max = std::max(statistics_.resident_count_max, resident_count_);
  return admission;
}

CapsuleControl::Admission CapsuleControl::Admit(TimePoint now, Duration timeout) {
  if (TimeoutIsTooShort(timeout) && state_ != State::kBypassing) BeginBypass(now);
  switch (state_) {
    case State::kOpen:
      return {Verdict::kEnter, timeout};
    case State::kBypassing:
      if (probe_is_inside_ || now - last_probe_ < feedback_.probe_interval) {
        return {Verdict::kBypass, Duration(0)};
      }
      probe_is_inside_ = true;
      last_probe_ = now;
      return {Verdict::kProbe, limits_.timeout};
    case State::kRamping:
      return AdmitByRamp(now, timeout);
  }
  return {Verdict::kEnter, timeout};
}

void CapsuleControl::BeginBypass(TimePoint now) {
  state_ = State::kBypassing;
  probe_is_inside_ = false;
  last_probe_ = now;
}

CapsuleControl::Admission CapsuleControl::AdmitByRamp(TimePoint now, Duration timeout) {
  const auto step = static_cast<int>((now - ramp_begin_) / feedback_.ramp_period);
  if (step >= feedback_.ramp_length) {
    state_ = State::kOpen;
    return {Verdict::kEnter, timeout};
  }
  if (step != ramp_step_) {
    ramp_step_ = step;
    ramp_admitted_ = 0;
  }
  if (ramp_admitted_ >= feedback_.ramp_count << step) return {Verdict::kBypass, Duration(0)};
  ++ramp_admitted_;
  return {Verdict::kEnter, timeout};
}

CapsuleControl::Verdict CapsuleControl::Ask(TimePoint now) {
  if (IsFull()) {
    ++statistics_.refused;
    return Verdict::kRefuse;
  }
  // Ask a copy, which discards the state change.
  CapsuleControl asked = *this;
  if (asked.Admit(now, FeedbackTimeout()).verdict != Verdict::kBypass) return Verdict::kEnter;
  ++statistics_.bypassed;
  return Verdict::kBypass;
}

void CapsuleControl::Leave(Verdict admitted, Outcome outcome, TimePoint entered, TimePoint now) {
  --resident_count_;
  switch (outcome) {
    case Outcome::kDone:
      ++statistics_.done;
      time_ns_.Add(static_cast<double>((now - entered).count()));
      break;
    case Outcome::kFailed:
      ++statistics_.failed;
      break;
    case Outcome::kTimedOut:
      ++statistics_.timed_out;
      break;
    case Outcome::kCancelled:
      ++statistics_.cancelled;
      break;
  }
  if (outcome == Outcome::kDone) {
    failure_count_ = 0;
  } else if (outcome != Outcome::kCancelled) {
    ++failure_count_;
    const bool too_many =
        feedback_.failure_count_max > 0 && failure_count_ >= feedback_.failure_count_max;
    if (too_many && state_ != State::kBypassing) BeginBypass(now);
  }
  if (admitted != Verdict::kProbe || state_ != State::kBypassing) return;
  probe_is_inside_ = false;
  if (outcome != Outcome::kDone) return;
  state_ = State::kRamping;
  ramp_begin_ = now;
  ramp_step_ = 0;
  ramp_admitted_ = 0;
}

CapsuleControl::Statistics CapsuleControl::statistics() const {
  Statistics now = statistics_;
  now.resident_count = resident_count_;
  now.mean_time = Duration(static_cast<int64_t>(time_ns_.value()));
  return now;
}

}  // namespace neptune
