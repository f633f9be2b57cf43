// Calls that wait for time to pass.
//
// When the node stops, sleeps end at once as if their time had passed: a program that sleeps again
// after an interruption would otherwise never finish.

#include <algorithm>
#include <optional>

#include "neptune/interpose/blocking_call.h"
#include "neptune/interpose/calls.h"
#include "neptune/interpose/interruption.h"
#include "neptune/interpose/time_limits.h"

namespace neptune::interpose {
namespace {

// The remaining time if a signal was handled, which ends every sleep; else nothing. Preserves
// errno.
std::optional<Duration> SleepFor(Duration duration) {
  const TimePoint end = AddSaturated(this_thread::Now(), duration);
  ParkResult result = ParkResult::kWoken;
  while (result == ParkResult::kWoken) {
    if (ConsumeInterruption() != Interruption::kNone) {
      return std::max(Duration(0), end - this_thread::Now());
    }
    result = this_thread::Park(end);
  }
  return std::nullopt;
}

// Returns EINTR and stores the remaining time, like nanosleep(2).
int Interrupted(Duration left, timespec* to_tell) {
  constexpr auto kSecond = std::chrono::seconds(1);
  if (to_tell != nullptr)
    *to_tell = {.tv_sec = left / kSecond, .tv_nsec = (left % kSecond).count()};
  return EINTR;
}

// True for clocks whose waits can be mapped to the loop's clock.
bool IsCommonClock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME ||
         clock == CLOCK_TAI;
}

// Time until `when` on `clock`.
Duration UntilOn(clockid_t clock, const timespec& when) {
  timespec now{};
  clock_gettime(clock, &now);
  return ToDuration(when) - ToDuration(now);
}

}  // namespace
}  // namespace neptune::interpose

using neptune::interpose::ParkingThread;
using neptune::interpose::RealLibc;

unsigned neptune_sleep(unsigned seconds) {
  if (ParkingThread() == nullptr) return RealLibc().sleep(seconds);
  const auto left = neptune::interpose::SleepFor(std::chrono::seconds(seconds));
  if (!left.has_value()) return 0;
  return static_cast<unsigned>(std::chrono::round<std::chrono::seconds>(*left).count());
}

int neptune_usleep(useconds_t time_us) {
  if (ParkingThread() == nullptr) return RealLibc().usleep(time_us);
  if (!neptune::interpose::SleepFor(std::chrono::microseconds(time_us)).has_value()) return 0;
  errno = EINTR;
  return -1;
}

int neptune_nanosleep(const timespec* time, timespec* left) {
  if (ParkingThread() == nullptr || !neptune::interpose::IsValid(time)) {
    return RealLibc().nanosleep(time, left);
  }
  const auto rest = neptune::interpose::SleepFor(neptune::interpose::ToDuration(*time));
  if (!rest.has_value()) return 0;
  errno = neptune::interpose::Interrupted(*rest, left);
  return -1;
}

int neptune_clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  if (ParkingThread() == nullptr || !neptune::interpose::IsValid(time) ||
      !neptune::interpose::IsCommonClock(clock)) {
    return RealLibc().clock_nanosleep(clock, flags, time, left);
  }
  const bool is_absolute = (flags & TIMER_ABSTIME) != 0;
  const auto rest =
      neptune::interpose::SleepFor(is_absolute ? neptune::interpose::UntilOn(clock, *time)
                                               : neptune::interpose::ToDuration(*time));
  if (!rest.has_value()) return 0;
  return neptune::interpose::Interrupted(*rest, is_absolute ? nullptr : left);
}
