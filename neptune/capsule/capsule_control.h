// What one dependency capsule lets in, how long it lets a call wait, and when it lets calls pass by.
//
//                    Enter ──► refused   residents at the limit, or over the throttle (caller-side throttling)
//                      │  └──► bypassed  the timeout that is left is too small to be worth a call
//                      ▼
//                  resident: waits and is processed, for at most the timeout it was given
//                      │
//                    Leave(outcome) ──► statistics
//
// The feedback timeout shrinks while calls pile up: with n residents between the watermarks a and b it is
// max{0, t (b - n) / (b - a)}. Below a floor the dependency is bypassed.
//
// Where few calls come at a time they do not pile up: a run of calls that fail or time out leads to bypass too.
//
// Re-admission: while it is bypassed one real call in a while is let in as a probe, with the whole timeout. After
// a probe that succeeds calls are let in again at a rate that doubles with each period, so that a dependency that
// has just recovered is not met by all of them at once; one that fails begins anew.
//
// Source: [Chu05] IV.A (bounds, timeout over waiting and processing), IV.C (throttling, feedback timeout).
// Departs from source: the paper's feedback recovers when residents time out; probes with a ramp recover faster and do
//   not flock. Bypass has a floor, and a run of failures is a reason for it.
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Units: times are TimePoint and Duration; residents are user-level threads inside.
// Limits: CapsuleLimits::resident_count_max.

#pragma once

#include <cstddef>
#include <cstdint>

#include "neptune/base/ewma.h"
#include "neptune/base/time.h"

namespace neptune {

struct CapsuleLimits {
  // Most threads inside; one more is refused at once. Larger: more memory that a hung dependency may hold.
  // Default: 1,000.
  size_t resident_count_max = 1000;
  // Longest time inside, waiting and processing together. Default: 10 s.
  Duration timeout = std::chrono::seconds(10);
  // Calls are refused over so many residents; 0: never. What the dependency can take: its queue and its pool.
  // Default: 0.
  size_t throttle_count = 0;
};

struct FeedbackOptions {
  // Residents from which the timeout shrinks, and at which nothing is left of it. Both 0: no feedback.
  size_t low_watermark = 0;
  size_t high_watermark = 0;
  // Calls in a row that fail or time out, after which the dependency is bypassed; 0: however many. Larger: later, and
  // fewer false alarms. Default: 0.
  size_t failure_count_max = 0;
  // Share of the timeout below which the dependency is bypassed. Larger: earlier. Default: 0.1.
  double bypass_share = 0.1;
  // Between probes while bypassed. Smaller: faster recovery, more calls that wait in vain. Default: 100 ms.
  Duration probe_interval = std::chrono::milliseconds(100);
  // Calls let in during the first period after a probe that succeeded; twice as many in each that follows.
  // Default: 4 in 50 ms.
  size_t ramp_count = 4;
  Duration ramp_period = std::chrono::milliseconds(50);
  // After so many periods nothing is held back any more. Default: 6, 32 times the first one.
  int ramp_length = 6;
};

class CapsuleControl {
 public:
  CapsuleControl(const CapsuleLimits& limits, const FeedbackOptions& feedback);

  enum class Verdict { kEnter, kProbe, kRefuse, kBypass };
  struct Admission {
    Verdict verdict = Verdict::kEnter;
    Duration timeout{0};  // of what enters
  };
  // A call wants in. Of what enters or probes, Leave follows.
  Admission Enter(TimePoint now);

  // What Enter would say, kEnter in place of kProbe: whether it is worth while to begin something that will lead to a
  // call. Nobody enters; a refusal counts.
  Verdict Ask(TimePoint now);

  enum class Outcome { kDone, kFailed, kTimedOut, kCancelled };
  // It was inside since `entered`.
  void Leave(Verdict admitted, Outcome outcome, TimePoint entered, TimePoint now);

  // The bounds from now on; those inside keep what they were given.
  void SetLimits(const CapsuleLimits& limits) { limits_ = limits; }
  void SetFeedback(const FeedbackOptions& feedback) { feedback_ = feedback; }

  struct Statistics {
    size_t resident_count = 0;
    size_t resident_count_max = 0;  // seen
    uint64_t entered = 0;
    uint64_t refused = 0;
    uint64_t bypassed = 0;
    uint64_t done = 0;
    uint64_t failed = 0;
    uint64_t timed_out = 0;
    uint64_t cancelled = 0;
    Duration mean_time{0};  // inside, of late
  };
  Statistics statistics() const;
  // The timeout that a call would be given now.
  Duration FeedbackTimeout() const;
  bool bypassing() const { return state_ == State::kBypassing; }

 private:
  // Open; bypassing with a probe now and then; letting in again by and by.
  enum class State { kOpen, kBypassing, kRamping };

  bool IsFull() const;
  bool TimeoutIsTooShort(Duration timeout) const;
  Admission Admit(TimePoint now, Duration timeout);
  Admission AdmitByRamp(TimePoint now, Duration timeout);
  void BeginBypass(TimePoint now);
  bool HasFeedback() const { return feedback_.high_watermark > feedback_.low_watermark; }

  CapsuleLimits limits_;
  FeedbackOptions feedback_;
  State state_ = State::kOpen;
  bool probe_is_inside_ = false;
  size_t failure_count_ = 0;  // in a row
  TimePoint last_probe_{};
  TimePoint ramp_begin_{};
  int ramp_step_ = 0;  // the period that ramp_admitted_ counts
  size_t ramp_admitted_ = 0;
  size_t resident_count_ = 0;
  Statistics statistics_;
  Ewma time_ns_{0.05};
};

}  // namespace neptune
