#include "neptune/interpose/pthread/mutex.h"

#include <atomic>
#include <cerrno>
#include <limits>

#include "neptune/interpose/preload/call_names.h"
#include "neptune/interpose/pthread/parking_lot.h"
#include "neptune/interpose/pthread/thread.h"
#include "neptune/interpose/pthread/time.h"

namespace neptune::interpose {
namespace {

// Bits of __kind, as libc's attributes set them.
constexpr int kTypeMask = 3;
constexpr int kRobust = 16;
constexpr int kPriorityProtected = 64;
constexpr int kProcessShared = 128;

enum Lock : int { kFree = 0, kLocked = 1, kContended = 2 };
enum Wish : int { kToTry = 0, kToBeHandedOver = 1 };

std::atomic_ref<int> LockOf(pthread_mutex_t* mutex) {
  return std::atomic_ref<int>(mutex->__data.__lock);
}
std::atomic_ref<int> OwnerOf(pthread_mutex_t* mutex) {
  return std::atomic_ref<int>(mutex->__data.__owner);
}
bool HeldByCaller(pthread_mutex_t* mutex) {
  return OwnerOf(mutex).load(std::memory_order_relaxed) == static_cast<int>(CurrentThreadNumber());
}

int TypeOf(const pthread_mutex_t* mutex) { return mutex->__data.__kind & kTypeMask; }
bool KnowsItsOwner(const pthread_mutex_t* mutex) {
  return TypeOf(mutex) == PTHREAD_MUTEX_RECURSIVE || TypeOf(mutex) == PTHREAD_MUTEX_ERRORCHECK;
}
bool StaysLibcs(const pthread_mutex_t* mutex) {
  return (mutex->__data.__kind & (kRobust | kPriorityProtected | kProcessShared)) != 0;
}

bool TryAcquire(pthread_mutex_t* mutex) {
  int lock = kFree;
  return LockOf(mutex).compare_exchange_strong(lock, kLocked, std::memory_order_acquire);
}

int AcquireSlowly(pthread_mutex_t* mutex, TimePoint deadline) {
  bool was_passed_over = false;
  while (LockOf(mutex).exchange(kContended, std::memory_order_acquire) != kFree) {
    const ParkingLot::WaitResult wait = ParkingLot::Get().Wait(
        {.address = mutex,
         .wish = was_passed_over ? kToBeHandedOver : kToTry,
         .in_front = was_passed_over,
         .until = {.deadline = deadline}},
        [&] { return LockOf(mutex).load(std::memory_order_relaxed) == kContended; });
    if (wait.ended == ParkingLot::Ended::kDeadline) return ETIMEDOUT;
    if (wait.ended == ParkingLot::Ended::kLetGo) {
      if (wait.token == kToBeHandedOver) return 0;
      was_passed_over = true;
    }
  }
  return 0;
}

void Release(pthread_mutex_t* mutex) {
  int lock = kLocked;
  if (LockOf(mutex).compare_exchange_strong(lock, kFree, std::memory_order_release)) return;
  ParkingLot::Get().AtAddress(mutex, [mutex](ParkingLot::Queue& queue) {
    ParkingLot::Waiter* const next = queue.first();
    const int wish = next == nullptr ? kToTry : next->wish;
    if (next != nullptr) queue.LetGo(next, wish);
    // The mutex may be destroyed as soon as it is unlocked.
    if (wish == kToTry) LockOf(mutex).store(kFree, std::memory_order_release);
  });
}

// Result of locking a mutex that the calling thread already holds.
int LockAgain(pthread_mutex_t* mutex) {
  if (TypeOf(mutex) == PTHREAD_MUTEX_ERRORCHECK) return EDEADLK;
  if (mutex->__data.__count == std::numeric_limits<unsigned>::max()) return EAGAIN;
  ++mutex->__data.__count;
  return 0;
}

void NoteOwner(pthread_mutex_t* mutex) {
  if (!KnowsItsOwner(mutex)) return;
  OwnerOf(mutex).store(static_cast<int>(CurrentThreadNumber()), std::memory_order_relaxed);
}

int TryLock(pthread_mutex_t* mutex) {
  if (TypeOf(mutex) == PTHREAD_MUTEX_RECURSIVE && HeldByCaller(mutex)) return LockAgain(mutex);
  if (!TryAcquire(mutex)) return EBUSY;
  NoteOwner(mutex);
  return 0;
}

int LockUntil(pthread_mutex_t* mutex, clockid_t clock, const timespec* when) {
  if (KnowsItsOwner(mutex) && HeldByCaller(mutex)) return LockAgain(mutex);
  if (TryLock(mutex) == 0) return 0;
  TimePoint deadline;
  const int error = DeadlineOf(clock, *when, &deadline);
  return error != 0 ? error : LockMutex(mutex, deadline);
}

}  // namespace

int LockMutex(pthread_mutex_t* mutex, TimePoint deadline) {
  if (StaysLibcs(mutex)) return pthread_mutex_lock(mutex);
  if (KnowsItsOwner(mutex) && HeldByCaller(mutex)) return LockAgain(mutex);
  if (!TryAcquire(mutex)) {
    if (const int error = AcquireSlowly(mutex, deadline); error != 0) return error;
  }
  NoteOwner(mutex);
  return 0;
}

bool MayUnlockMutex(const pthread_mutex_t* mutex) {
  if (StaysLibcs(mutex) || !KnowsItsOwner(mutex)) return true;
  return HeldByCaller(const_cast<pthread_mutex_t*>(mutex));
}

int UnlockMutex(pthread_mutex_t* mutex) {
  if (StaysLibcs(mutex)) return pthread_mutex_unlock(mutex);
  if (KnowsItsOwner(mutex)) {
    if (!HeldByCaller(mutex)) return EPERM;
    if (mutex->__data.__count > 0) {
      --mutex->__data.__count;
      return 0;
    }
    OwnerOf(mutex).store(0, std::memory_order_relaxed);
  }
  Release(mutex);
  return 0;
}

}  // namespace neptune::interpose

using neptune::interpose::StaysLibcs;

NEPTUNE_PRELOAD_CALL int neptune_pthread_mutex_lock(pthread_mutex_t* mutex) {
  return neptune::interpose::LockMutex(mutex);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_mutex_trylock(pthread_mutex_t* mutex) {
  return StaysLibcs(mutex) ? pthread_mutex_trylock(mutex) : neptune::interpose::TryLock(mutex);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_mutex_timedlock(pthread_mutex_t* mutex,
                                                         const timespec* when) {
  return StaysLibcs(mutex) ? pthread_mutex_timedlock(mutex, when)
                           : neptune::interpose::LockUntil(mutex, CLOCK_REALTIME, when);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                                         const timespec* when) {
  return StaysLibcs(mutex) ? pthread_mutex_clocklock(mutex, clock, when)
                           : neptune::interpose::LockUntil(mutex, clock, when);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_mutex_unlock(pthread_mutex_t* mutex) {
  return neptune::interpose::UnlockMutex(mutex);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_mutex_destroy(pthread_mutex_t* mutex) {
  const bool is_ours = !StaysLibcs(mutex);
  if (is_ours && neptune::interpose::LockOf(mutex).load() != neptune::interpose::kFree)
    return EBUSY;
  return pthread_mutex_destroy(mutex);
}
