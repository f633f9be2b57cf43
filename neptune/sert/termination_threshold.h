// Threshold of a request's run time, as a function of the service's throughput loss.
//
//   threshold                            p   throughput loss: share of requests, over a sliding
//   UB ──────╮                               window, that found the queue full or expired in it
//            │╲                        LB, UB  range of the threshold
//            │  ╲  ╲ alpha             LW, HW  the threshold is UB up to a loss of LW,
//   LB       │    ─ ─ ╲───────                 and LB from HW on
//            LW        HW    p
//
//   threshold = LB + F(p) (UB - LB)
//   F(p) = ((HW - p) / (HW - LW))^alpha between the watermarks, 1 below, 0 above
//
// Source: [Zhou06], "Threshold Controller".
// Departs from source: the slides leave open which requests count as lost, and over which time. A
//   request that is ended early is answered, with an error or a partial result, and does not count
//   as lost, so that the loss shows whether ending the long requests was enough.
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Units: loss is a share, 0 to 1.
// Limits: 2 * kLossSliceCount counters.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "neptune/base/time.h"

namespace neptune {

struct ThresholdOptions {
  // Threshold while many requests are lost. Smaller: overload ends sooner, but more moderately long
  // requests are ended. Default: 500 ms.
  Duration lower_bound = std::chrono::milliseconds(500);
  // Threshold while no requests are lost. Default: 15 s.
  Duration upper_bound = std::chrono::seconds(15);
  // Loss up to which the threshold stays at the upper bound, and from which it is the lower one.
  // Default: 1 % and 10 %.
  double low_watermark = 0.01;
  double high_watermark = 0.10;
  // Above 1 the threshold falls faster at first; below 1, later. Default: 1, linear.
  double alpha = 1;
  // Window of the loss measurement. Larger: steadier, but slower to detect a burst. Default: 2 s.
  Duration window = std::chrono::seconds(2);
};

// Returns the violated condition, or null if the options are valid: 0 < LB <= UB, 0 <= LW < HW <=
// 1, alpha > 0, the window is long enough for its slices, and no value is NaN. A text rather than a
// Status, because the C interface reports errors by errno.
const char* FaultOf(const ThresholdOptions& options);

// Returns the threshold for a loss, which is clamped to [0, 1]. REQUIRES: the options are valid.
Duration ThresholdAt(const ThresholdOptions& options, double loss);

inline constexpr size_t kLossSliceCount = 16;

// The share of lost requests among all ended requests, over a sliding window of slices; the oldest
// slice is dropped as a whole.
class ThroughputLoss {
 public:
  // REQUIRES: window >= kLossSliceCount ns.
  explicit ThroughputLoss(Duration window);

  // A time earlier than the newest one counts as the newest one.
  void OnServed(TimePoint now, uint64_t count = 1) { SliceAt(now).served += count; }
  void OnLost(TimePoint now, uint64_t count = 1) { SliceAt(now).lost += count; }
  // Returns 0 if no request ended in the window.
  double Share(TimePoint now);

 private:
  struct Slice {
    uint64_t served = 0;
    uint64_t lost = 0;
  };
  Slice& SliceAt(TimePoint now);

  Duration slice_time_;
  std::array<Slice, kLossSliceCount> slices_{};
  int64_t newest_ = 0;  // number of the newest slice since time 0
  bool is_empty_ = true;
};

// Combines both: the current threshold.
class TerminationThreshold {
 public:
  explicit TerminationThreshold(const ThresholdOptions& options)
      : options_(options), loss_(options.window) {}

  void OnServed(TimePoint now, uint64_t count = 1) { loss_.OnServed(now, count); }
  void OnLost(TimePoint now, uint64_t count = 1) { loss_.OnLost(now, count); }
  Duration Now(TimePoint now) { return ThresholdAt(options_, loss_.Share(now)); }
  double Loss(TimePoint now) { return loss_.Share(now); }

 private:
  ThresholdOptions options_;
  ThroughputLoss loss_;
};

}  // namespace neptune
