// The runtime's notion of time: a monotonic clock, real or virtual, that the world provides.
//
// Threads: immutable values.
// Units: Duration counts nanoseconds; TimePoint is nanoseconds since the world began (real world:
//   the machine's monotonic clock). WallTime is nanoseconds since 1970 UTC, for people and logs
//   only.

#pragma once

#include <chrono>
#include <cstdint>

namespace neptune {

using Duration = std::chrono::nanoseconds;

// Clock tag for TimePoint. It has no now(), because only the world tells the time.
struct WorldClock {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<WorldClock, Duration>;
  static constexpr bool is_steady = true;
};

using TimePoint = WorldClock::time_point;

// The deadline of an operation without one.
inline constexpr TimePoint kNever = TimePoint::max();

struct WallTime {
  int64_t ns_since_1970 = 0;
};

inline double ToSeconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}
inline double ToMillis(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}
inline int64_t ToMicros(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}
inline Duration FromSeconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

// base + delta, saturating at kNever.
inline TimePoint AddSaturated(TimePoint base, Duration delta) {
  return delta >= kNever - base ? kNever : base + delta;
}

}  // namespace neptune
