// Admission control of one dependency capsule: which calls enter, their timeout, and when calls
// bypass the dependency.
//
//     Enter ──► refused   resident count at the limit or at the throttle (caller-side throttling)
//       │  └──► bypassed  the remaining timeout is too short for a call
//       ▼
//     resident: waits and is processed, for at most the timeout it was given
//       │
//     Leave(outcome) ──► statistics
//
// The feedback timeout shrinks while calls pile up: with n residents between the watermarks a and b
// it is max{0, t (b - n) / (b - a)}. Below a floor the dependency is bypassed.
//
// At low load calls do not pile up, so a run of calls that fail or time out starts bypass too.
//
// Re-admission: while the dependency is bypassed, one real call per probe interval enters as a
// probe with the whole timeout. After a successful probe calls are admitted at a rate that doubles
// each period, so a dependency that has just recovered is not flooded. After a failed probe bypass
// continues.
//
// Source: [Chu05] IV.A (bounds, timeout over waiting and processing), IV.C (throttling, feedback
//   timeout).
// Departs from source: the paper's feedback recovers when residents time out; probes with a ramp
//   recover faster and do not flock. Bypass starts at a floor above 0, or after a run of failures.
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
  // Maximum number of threads inside; further calls are refused at once. Larger: a hung dependency
  // may hold more memory. Default: 1,000.
  size_t resident_count_max = 1000;
  // Maximum time inside, waiting and processing together. Default: 10 s.
  Duration timeout = std::chrono::seconds(10);
  // Refuse calls when this many are inside; 0: no limit. Set it to the dependency's queue plus pool
  // size. Default: 0.
  size_t throttle_count = 0;
};

struct FeedbackOptions {
  // Above low_watermark residents the timeout shrinks; at high_watermark it is 0. Both 0: no
  // feedback.
  size_t low_watermark = 0;
  size_t high_watermark = 0;
  // Consecutive failures or timeouts that start bypass; 0: never. Larger: later bypass, fewer false
  // alarms. Default: 0.
  size_t failure_count_max = 0;
  // Share of the timeout below which the dependency is bypassed. Larger: earlier. Default: 0.1.
  double bypass_share = 0.1;
  // Time between probes during bypass. Smaller: faster recovery, more calls that wait without
  // success. Default: 100 ms.
  Duration probe_interval = std::chrono::milliseconds(100);
  // Calls admitted in the first period after a successful probe; the number doubles each period.
  // Default: 4 in 50 ms.
  size_t ramp_count = 4;
  Duration ramp_period = std::chrono::milliseconds(50);
  // Number of periods after which all calls are admitted. Default: 6, the last with 32 times the
  // first period's calls.
  int ramp_length = 6;
};

class CapsuleControl {
 public:
  CapsuleControl(const CapsuleLimits& limits, const FeedbackOptions& feedback);

  enum class Verdict { kEnter, kProbe, kRefuse, kBypass };
  struct Admission {
    Verdict verdict = Verdict::kEnter;
    Duration timeout{0};  // 0 unless the call enters
  };
  // Decides on a call. After kEnter and kProbe the caller must call Leave.
  Admission Enter(TimePoint now);

  // The verdict Enter would return, with kEnter in place of kProbe, without entering: checks
  // whether to begin something that will lead to a call. A refusal or bypass is counted.
  Verdict Ask(TimePoint now);

  enum class Outcome { kDone, kFailed, kTimedOut, kCancelled };
  // Ends a call that entered at `entered`.
  void Leave(Verdict admitted, Outcome outcome, TimePoint entered, TimePoint now);

  // Sets the number of residents, and of places kept for some, that are counted elsewhere.
  void SetReserved(size_t count) { reserved_count_ = count; }

  // Replaces the bounds; calls inside keep the timeout they were given.
  void SetLimits(const CapsuleLimits& limits) { limits_ = limits; }
  void SetFeedback(const FeedbackOptions& feedback) { feedback_ = feedback; }

  struct Statistics {
    size_t resident_count = 0;
    size_t resident_count_max = 0;  // highest number observed
    uint64_t entered = 0;
    uint64_t refused = 0;
    uint64_t bypassed = 0;
    uint64_t done = 0;
    uint64_t failed = 0;
    uint64_t timed_out = 0;
    uint64_t cancelled = 0;
    Duration mean_time{0};  // moving average of the time inside
  };
  Statistics statistics() const;
  // The timeout of a call that entered now.
  Duration FeedbackTimeout() const;
  bool bypassing() const { return state_ == State::kBypassing; }

 private:
  // Admits all calls; bypasses all but probes; admits at a rising rate.
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
  size_t failure_count_ = 0;  // consecutive
  TimePoint last_probe_{};
  TimePoint ramp_begin_{};
  int ramp_step_ = 0;  // the period that ramp_admitted_ counts
  size_t ramp_admitted_ = 0;
  size_t resident_count_ = 0;
  size_t reserved_count_ = 0;
  Statistics statistics_;
  Ewma time_ns_{0.05};
};

}  // namespace neptune
