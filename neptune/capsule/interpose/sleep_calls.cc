// Calls that wait for time to pass.
//
// When the node stops, sleeps end at once as if their time had passed: a program that slept again after an
// interruption would never finish.

#include "neptune/capsule/interpose/blocking_call.h"
#include "neptune/capsule/interpose/calls.h"
#include "neptune/capsule/interpose/time_limits.h"

namespace neptune::interpose {
namespace {

// Keeps errno.
void SleepFor(Duration duration) { (void)this_thread::SleepFor(duration); }

// Clocks by which a wait can be kept on the loop's clock.
bool IsCommonClock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME ||
         clock == CLOCK_TAI;
}

// How long it is until `when` of `clock`.
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
  neptune::interpose::SleepFor(std::chrono::seconds(seconds));
  return 0;
}

int neptune_usleep(useconds_t time_us) {
  if (ParkingThread() == nullptr) return RealLibc().usleep(time_us);
  neptune::interpose::SleepFor(std::chrono::microseconds(time_us));
  return 0;
}

int neptune_nanosleep(const timespec* time, timespec* left) {
  if (ParkingThread() == nullptr || !neptune::interpose::IsValid(time)) {
    return RealLibc().nanosleep(time, left);
  }
  neptune::interpose::SleepFor(neptune::interpose::ToDuration(*time));
  return 0;
}

int neptune_clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  if (ParkingThread() == nullptr || !neptune::interpose::IsValid(time) ||
      !neptune::interpose::IsCommonClock(clock)) {
    return RealLibc().clock_nanosleep(clock, flags, time, left);
  }
  neptune::interpose::SleepFor((flags & TIMER_ABSTIME) != 0
                                   ? neptune::interpose::UntilOn(clock, *time)
                                   : neptune::interpose::ToDuration(*time));
  return 0;
}
