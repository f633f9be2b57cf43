// Converts the C library's time types to deadlines of the calling user-level thread's loop.
//
// Threads: on user-level threads only.

#pragma once

#include <sys/time.h>
#include <time.h>

#include <algorithm>
#include <climits>

#include "neptune/thread/user_thread.h"

namespace neptune::interpose {

inline bool IsValid(const timespec* time) {
  return time == nullptr ||
         (time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < 1'000'000'000);
}

// Saturates: 285 years or more are forever.
inline Duration ToDuration(const timespec& time) {
  constexpr time_t kSecondsMax = 9'000'000'000;
  return std::chrono::seconds(std::min(time.tv_sec, kSecondsMax)) +
         std::chrono::nanoseconds(time.tv_nsec);
}

// Null means never.
inline TimePoint After(const timespec* time) {
  return time == nullptr ? kNever : AddSaturated(this_thread::Now(), ToDuration(*time));
}
// Negative means never.
inline TimePoint AfterMillis(int time_ms) {
  if (time_ms < 0) return kNever;
  return AddSaturated(this_thread::Now(), std::chrono::milliseconds(time_ms));
}

inline Duration Until(TimePoint when) { return std::max(Duration(0), when - this_thread::Now()); }
// Rounds up; -1 means never.
inline int MillisUntil(TimePoint when) {
  if (when == kNever) return -1;
  return static_cast<int>(std::min<int64_t>(INT_MAX, (ToMicros(Until(when)) + 999) / 1000));
}
inline timeval TimevalUntil(TimePoint when) {
  const int64_t left_us = ToMicros(Until(when));
  return {left_us / 1'000'000, left_us % 1'000'000};
}

}  // namespace neptune::interpose
