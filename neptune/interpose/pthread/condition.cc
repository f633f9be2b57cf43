// Conditions for user-level and kernel threads, in the memory of pthread_cond_t. The values set by
// libc's initialisers are only read, for the clock; waiters are in the parking lot.
//
// A process-shared condition stays libc's, and waiting for one blocks the kernel thread.

#include <pthread.h>

#include <cerrno>

#include "neptune/interpose/preload/call_names.h"
#include "neptune/interpose/pthread/mutex.h"
#include "neptune/interpose/pthread/parking_lot.h"
#include "neptune/interpose/pthread/time.h"

namespace neptune::interpose {
namespace {

// Bits of __wrefs, as pthread_cond_init sets them.
constexpr unsigned kProcessShared = 1;
constexpr unsigned kMonotonic = 2;

bool StaysLibcs(const pthread_cond_t* condition) {
  return (condition->__data.__wrefs & kProcessShared) != 0;
}
clockid_t ClockOf(const pthread_cond_t* condition) {
  return (condition->__data.__wrefs & kMonotonic) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

// Releases the mutex only once the thread is queued, so that no signal is lost.
int Wait(pthread_cond_t* condition, pthread_mutex_t* mutex, TimePoint deadline) {
  if (!MayUnlockMutex(mutex)) return EPERM;
  const ParkingLot::WaitResult wait = ParkingLot::Get().Wait(
      {.address = condition, .until = {.deadline = deadline}}, [] { return true; },
      [mutex] { UnlockMutex(mutex); });
  const int error = LockMutex(mutex);
  if (error != 0) return error;
  return wait.ended == ParkingLot::Ended::kDeadline ? ETIMEDOUT : 0;
}

int WaitUntil(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
              const timespec* when) {
  TimePoint deadline;
  const int error = DeadlineOf(clock, *when, &deadline);
  return error != 0 ? error : Wait(condition, mutex, deadline);
}

}  // namespace
}  // namespace neptune::interpose

using neptune::interpose::ParkingLot;
using neptune::interpose::StaysLibcs;

NEPTUNE_PRELOAD_CALL int neptune_pthread_cond_wait(pthread_cond_t* condition,
                                                   pthread_mutex_t* mutex) {
  if (StaysLibcs(condition)) return pthread_cond_wait(condition, mutex);
  return neptune::interpose::Wait(condition, mutex, neptune::kNever);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_cond_timedwait(pthread_cond_t* condition,
                                                        pthread_mutex_t* mutex,
                                                        const timespec* when) {
  if (StaysLibcs(condition)) return pthread_cond_timedwait(condition, mutex, when);
  return neptune::interpose::WaitUntil(condition, mutex, neptune::interpose::ClockOf(condition),
                                       when);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_cond_clockwait(pthread_cond_t* condition,
                                                        pthread_mutex_t* mutex, clockid_t clock,
                                                        const timespec* when) {
  if (StaysLibcs(condition)) return pthread_cond_clockwait(condition, mutex, clock, when);
  return neptune::interpose::WaitUntil(condition, mutex, clock, when);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_cond_signal(pthread_cond_t* condition) {
  if (StaysLibcs(condition)) return pthread_cond_signal(condition);
  if (ParkingLot::Get().NobodyWaits(condition)) return 0;
  ParkingLot::Get().AtAddress(condition, [](ParkingLot::Queue& queue) {
    if (!queue.empty()) queue.LetGo(queue.first(), 0);
  });
  return 0;
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_cond_broadcast(pthread_cond_t* condition) {
  if (StaysLibcs(condition)) return pthread_cond_broadcast(condition);
  if (ParkingLot::Get().NobodyWaits(condition)) return 0;
  ParkingLot::Get().AtAddress(condition, [](ParkingLot::Queue& queue) {
    while (!queue.empty()) queue.LetGo(queue.first(), 0);
  });
  return 0;
}
