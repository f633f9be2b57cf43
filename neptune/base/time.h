// Time as the runtime knows it: a monotonic clock that the world provides, real or virtual.
//
// Threads: immutable values.
// Units: Duration counts nanoseconds; TimePoint is nanoseconds since the world began (real world: the
//   machine's monotonic clock). WallTime is nanoseconds since 1970 UTC, for people and logs only.

#pragma once

#include <chrono>
#include <cstdint>

namespace neptune {

using Duration = std::chrono::nanoseconds;

// Tag clock: it has no now(), because time comes in through the world.
struct WorldClock {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<WorldClock, Duration>;
  static constexpr bool is_steady = true;
};

using TimePoint = WorldClock::time_point;

// A deadline that never comes.
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
