// Time between readings of the system's clock, from the processor's tick counter, which costs less
// than half as much to read.
//
//   Set(ticks, time) ──► one span ──► Read(ticks) ... ──► the span is over: Set again
//
// Each reading of the system's clock begins a span, within which ticks are converted to time. The
// length of a tick is measured between readings, so nothing is converted until kMeasureTime after
// the first; from then on the time is off by the drift within one span, some nanoseconds. It never
// decreases. A counter that jumps makes the time wrong by at most one span, and is measured again.
//
// No I/O, no clock.
// Threads: thread-compatible.
// Units: ticks of any constant rate from 10 MHz to 10 GHz.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "neptune/base/time.h"

namespace neptune {

class TickClock {
 public:
  // Time for which a reading of the system's clock is used. Larger: fewer readings, more drift.
  static constexpr Duration kSpan = std::chrono::milliseconds(1);
  // Times between which the length of a tick is measured: the shortest, and the longest before
  // another measurement begins.
  static constexpr Duration kMeasureTime = std::chrono::milliseconds(20);
  static constexpr Duration kMeasureTimeMax = std::chrono::seconds(10);

  // The time; nullopt: the system's clock must be read, and passed to Set.
  std::optional<TimePoint> Read(uint64_t ticks) {
    const uint64_t since = ticks - set_ticks_;
    if (since >= span_ticks_) return std::nullopt;
    return Latest(set_at_ + Duration(static_cast<int64_t>(since * tick_length_ >> kFraction)));
  }

  // The system's clock showed `now` between these two readings of the counter. Returns the time.
  TimePoint Set(uint64_t ticks_before, TimePoint now, uint64_t ticks_after) {
    // The thread was interrupted between the readings: they do not belong together.
    const bool is_exact = ticks_after - ticks_before <= kTicksBetweenMax;
    if (is_exact) {
      Measure(ticks_after, now);
      set_at_ = now;
      set_ticks_ = ticks_after;
    }
    span_ticks_ = is_exact ? ticks_of_span_ : 0;
    return Latest(now);
  }

 private:
  static constexpr int kFraction = 32;  // bits of tick_length_ after the point
  static constexpr uint64_t kTicksBetweenMax = 2'000;
  // The counter has jumped if the measured length changes by more than this part.
  static constexpr uint64_t kChangeDivisor = 1'000;

  TimePoint Latest(TimePoint now) { return latest_ = std::max(latest_, now); }

  // Measures the length of a tick since measured_from_, or begins to.
  void Measure(uint64_t ticks, TimePoint now) {
    const auto time_ns = static_cast<uint64_t>((now - measured_from_).count());
    const uint64_t passed = ticks - measured_from_ticks_;
    bool is_plausible = is_measuring_ && passed / 10 <= time_ns && passed >= time_ns / 100;
    if (is_plausible && now - measured_from_ >= kMeasureTime) {
      const double length_ns = static_cast<double>(time_ns) / static_cast<double>(passed);
      const auto length = static_cast<uint64_t>(length_ns * (uint64_t{1} << kFraction));
      const uint64_t change = std::max(length, tick_length_) - std::min(length, tick_length_);
      is_plausible = ticks_of_span_ == 0 || change <= tick_length_ / kChangeDivisor;
      tick_length_ = length;
      ticks_of_span_ = (static_cast<uint64_t>(kSpan.count()) << kFraction) / length;
    }
    if (is_plausible && now - measured_from_ < kMeasureTimeMax) return;
    if (!is_plausible) ticks_of_span_ = 0;
    is_measuring_ = true;
    measured_from_ = now;
    measured_from_ticks_ = ticks;
  }

  TimePoint set_at_{};
  uint64_t set_ticks_ = 0;
  uint64_t span_ticks_ = 0;     // ticks that may be converted; 0: none
  uint64_t ticks_of_span_ = 0;  // length of a span; 0: not measured yet
  uint64_t tick_length_ = 0;    // in nanoseconds, with kFraction bits after the point
  TimePoint latest_{};
  bool is_measuring_ = false;
  TimePoint measured_from_{};
  uint64_t measured_from_ticks_ = 0;
};

}  // namespace neptune
