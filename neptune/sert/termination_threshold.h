// How long a request may run before it is ended early, by how much the service loses.
//
//   threshold                            p   throughput loss: the share of requests, over a sliding window, that
//   UB ──────╮                               found the queue full or waited there until it was too late
//            │╲                        LB, UB  range of the threshold
//            │  ╲  ╲ alpha             LW, HW  up to LW of loss requests have all the time they may have,
//   LB       │    ─ ─ ╲───────                 from HW on the least
//            LW        HW    p
//
//   threshold = LB + F(p) (UB - LB),   F(p) = ((HW - p) / (HW - LW))^alpha between the watermarks, 1 below, 0 above
//
// Source: [Zhou06], "Threshold Controller".
// Departs from source: the slides leave open what is lost and over which time. A request that was ended early is
//   answered, though with an error or a part of its result, and counts as no loss: the loss says whether ending the
//   long ones was enough.
// No I/O, no clock, no threads.
// Threads: thread-compatible; whoever ends requests feeds it.
// Units: loss is a share, 0 to 1. Limits: kLossSliceCount numbers of two.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "neptune/base/time.h"

namespace neptune {

struct ThresholdOptions {
  // What a request may take at most while much is lost. Smaller: overload ends sooner, and more requests are ended that
  // are only a little long. Default: 500 ms.
  Duration lower_bound = std::chrono::milliseconds(500);
  // What it may take while nothing is lost. Default: 15 s.
  Duration upper_bound = std::chrono::seconds(15);
  // Loss up to which the threshold stays at the upper bound, and from which it is the lower one. Default: 1 % and 10 %.
  double low_watermark = 0.01;
  double high_watermark = 0.10;
  // Above 1 the threshold falls faster at first; below 1, later. Default: 1, a straight line.
  double alpha = 1;
  // Over which time loss is measured. Larger: steadier, and later to see a burst. Default: 2 s.
  Duration window = std::chrono::seconds(2);
};

// What is wrong with the options, or null: 0 < LB <= UB, 0 <= LW < HW <= 1, alpha > 0 or a window that can be cut into
// slices does not hold, or one is no number. A text and no status: programs in C get it through errno.
const char* FaultOf(const ThresholdOptions& options);

// REQUIRES: the options are sound. A loss beyond 0 or 1 counts as that.
Duration ThresholdAt(const ThresholdOptions& options, double loss);

inline constexpr size_t kLossSliceCount = 16;

// The share of requests lost of those that came to an end, over a window in slices: what is older than the window is
// forgotten a slice at a time.
class ThroughputLoss {
 public:
  // REQUIRES: window >= kLossSliceCount ns.
  explicit ThroughputLoss(Duration window);

  // A time before the newest one seen counts as that one.
  void OnServed(TimePoint now, uint64_t count = 1) { SliceAt(now).served += count; }
  void OnLost(TimePoint now, uint64_t count = 1) { SliceAt(now).lost += count; }
  // 0 while nothing ended.
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

// Both together: what a request may take now.
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
