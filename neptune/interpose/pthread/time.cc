#include "neptune/interpose/pthread/time.h"

#include <cerrno>

#include "neptune/interpose/pthread/waiter.h"

namespace neptune::interpose {
namespace {

constexpr long kNanosecondsPerSecond = 1'000'000'000;
// Longer than any wait, and small enough to be added to a time.
constexpr Duration kLongest = std::chrono::hours(24 * 365 * 100);

Duration Since(const timespec& begin, const timespec& end) {
  const auto seconds = static_cast<__int128>(end.tv_sec) - begin.tv_sec;
  const auto limit = static_cast<__int128>(kLongest / std::chrono::seconds(1));
  if (seconds >= limit) return kLongest;
  if (seconds <= -limit) return -kLongest;
  return std::chrono::seconds(static_cast<int64_t>(seconds)) +
         Duration(end.tv_nsec - begin.tv_nsec);
}

}  // namespace

int DeadlineOf(clockid_t clock, const timespec& when, TimePoint* deadline) {
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) return EINVAL;
  if (when.tv_nsec < 0 || when.tv_nsec >= kNanosecondsPerSecond) return EINVAL;
  timespec now{};
  clock_gettime(clock, &now);
  *deadline = AddSaturated(MonotonicNow(), Since(now, when));
  return 0;
}

}  // namespace neptune::interpose
