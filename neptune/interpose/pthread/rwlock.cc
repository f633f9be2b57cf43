// Read-write locks for user-level and kernel threads, in the memory of pthread_rwlock_t.
//
//   __readers      number of readers; kWriting; kWaitedFor while threads are in the parking lot
//   __cur_writer   number of the writing thread
//   __flags        preference, as set by libc's initialisers
//
// The lock is handed to waiters in order; consecutive waiting readers get it together. As with
// libc, readers enter while others read although a writer waits, unless the lock prefers writers
// and is not read recursively.
//
// Source: POSIX. Departs from source: a process-shared lock stays libc's, and waiting for one
//   blocks the kernel thread.

#include <pthread.h>

#include <atomic>
#include <cerrno>

#include "neptune/interpose/preload/call_names.h"
#include "neptune/interpose/pthread/parking_lot.h"
#include "neptune/interpose/pthread/thread.h"
#include "neptune/interpose/pthread/time.h"

namespace neptune::interpose {
namespace {

constexpr unsigned kWriting = 1u << 31;
constexpr unsigned kWaitedFor = 1u << 30;
constexpr unsigned kReaderMask = kWaitedFor - 1;

enum Wish : int { kToRead, kToWrite };

// A view of the program's object.
class ReadWriteLock {
 public:
  explicit ReadWriteLock(pthread_rwlock_t* lock) : data_(lock->__data), state_(data_.__readers) {}

  bool StaysLibcs() const { return data_.__shared != 0; }

  bool TryFor(Wish wish) {
    unsigned state = state_.load(std::memory_order_relaxed);
    while (Admits(state, wish)) {
      const unsigned taken = wish == kToRead ? state + 1 : state | kWriting;
      if (state_.compare_exchange_weak(state, taken, std::memory_order_acquire)) {
        if (wish == kToWrite) NoteWriter(CurrentThreadNumber());
        return true;
      }
    }
    return false;
  }

  int LockFor(Wish wish, TimePoint deadline = kNever) {
    if (HeldForWritingByCaller()) return EDEADLK;
    if (TryFor(wish)) return 0;
    const ParkingLot::WaitResult wait =
        ParkingLot::Get().Wait({.address = &data_, .wish = wish, .until = {.deadline = deadline}},
                               [&] { return !AcquireOrMark(wish); });
    if (wait.ended == ParkingLot::Ended::kDeadline) {
      HandOn();  // readers may have queued after this writer
      return ETIMEDOUT;
    }
    if (wish == kToWrite) NoteWriter(CurrentThreadNumber());
    return 0;
  }

  int LockUntil(Wish wish, clockid_t clock, const timespec* when) {
    if (HeldForWritingByCaller()) return EDEADLK;
    if (TryFor(wish)) return 0;
    TimePoint deadline;
    const int error = DeadlineOf(clock, *when, &deadline);
    return error != 0 ? error : LockFor(wish, deadline);
  }

  int Unlock() {
    unsigned state = state_.load(std::memory_order_relaxed);
    if ((state & kWriting) != 0) NoteWriter(0);
    unsigned left = 0;
    do {
      if ((state & (kWriting | kReaderMask)) == 0) return EPERM;
      left = (state & kWriting) != 0 ? state & ~kWriting : state - 1;
    } while (!state_.compare_exchange_weak(state, left, std::memory_order_acq_rel));
    if (left == kWaitedFor) HandOn();
    return 0;
  }

 private:
  bool Admits(unsigned state, Wish wish) const {
    if (wish == kToWrite) return (state & (kWriting | kReaderMask)) == 0;
    if ((state & kWriting) != 0) return false;
    return (state & kWaitedFor) == 0 ||
           data_.__flags != PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
  }

  bool HeldForWritingByCaller() {
    const int writer = std::atomic_ref<int>(data_.__cur_writer).load(std::memory_order_relaxed);
    return writer == static_cast<int>(CurrentThreadNumber());
  }
  void NoteWriter(uint32_t number) {
    std::atomic_ref<int>(data_.__cur_writer)
        .store(static_cast<int>(number), std::memory_order_relaxed);
  }

  // Runs under the bucket's lock: takes the lock, or marks that a thread waits.
  bool AcquireOrMark(Wish wish) {
    for (;;) {
      if (TryFor(wish)) return true;
      unsigned state = state_.load(std::memory_order_relaxed);
      if (Admits(state, wish)) continue;
      if (state_.compare_exchange_weak(state, state | kWaitedFor, std::memory_order_relaxed)) {
        return false;
      }
    }
  }

  // Hands the lock to the first waiters that can have it.
  void HandOn() {
    ParkingLot::Get().AtAddress(&data_, [this](ParkingLot::Queue& queue) {
      if (queue.empty()) {
        state_.fetch_and(~kWaitedFor, std::memory_order_relaxed);
      } else if (queue.first()->wish == kToWrite) {
        HandToWriter(queue);
      } else {
        HandToReaders(queue);
      }
    });
  }

  void HandToWriter(ParkingLot::Queue& queue) {
    unsigned state = kWaitedFor;  // free
    const bool others_wait = queue.After(queue.first()) != nullptr;
    const unsigned taken = kWriting | (others_wait ? kWaitedFor : 0);
    if (state_.compare_exchange_strong(state, taken, std::memory_order_acq_rel)) {
      queue.LetGo(queue.first(), 0);
    }
  }

  void HandToReaders(ParkingLot::Queue& queue) {
    unsigned reader_count = 0;
    bool others_wait = false;
    for (auto* waiter = queue.first(); waiter != nullptr; waiter = queue.After(waiter)) {
      if (waiter->wish == kToRead) ++reader_count;
      if (waiter->wish == kToWrite) others_wait = true;
    }
    unsigned state = state_.load(std::memory_order_relaxed);
    unsigned taken = 0;
    do {
      if ((state & kWriting) != 0) return;  // the writer hands it on later
      taken = (state & kReaderMask) + reader_count + (others_wait ? kWaitedFor : 0);
    } while (!state_.compare_exchange_weak(state, taken, std::memory_order_acq_rel));
    for (auto* waiter = queue.first(); waiter != nullptr;) {
      auto* const next = queue.After(waiter);
      if (waiter->wish == kToRead) queue.LetGo(waiter, 0);
      waiter = next;
    }
  }

  decltype(pthread_rwlock_t::__data)& data_;
  std::atomic_ref<unsigned> state_;
};

}  // namespace
}  // namespace neptune::interpose

using neptune::interpose::kToRead;
using neptune::interpose::kToWrite;
using neptune::interpose::ReadWriteLock;

NEPTUNE_PRELOAD_CALL int neptune_pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  ReadWriteLock view(lock);
  return view.StaysLibcs() ? pthread_rwlock_rdlock(lock) : view.LockFor(kToRead);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  ReadWriteLock view(lock);
  if (view.StaysLibcs()) return pthread_rwlock_tryrdlock(lock);
  return view.TryFor(kToRead) ? 0 : EBUSY;
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_rwlock_timedrdlock(pthread_rwlock_t* lock,
                                                            const timespec* when) {
  ReadWriteLock view(lock);
  return view.StaysLibcs() ? pthread_rwlock_timedrdlock(lock, when)
                           : view.LockUntil(kToRead, CLOCK_REALTIME, when);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                                            const timespec* when) {
  ReadWriteLock view(lock);
  return view.StaysLibcs() ? pthread_rwlock_clockrdlock(lock, clock, when)
                           : view.LockUntil(kToRead, clock, when);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  ReadWriteLock view(lock);
  return view.StaysLibcs() ? pthread_rwlock_wrlock(lock) : view.LockFor(kToWrite);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
  ReadWriteLock view(lock);
  if (view.StaysLibcs()) return pthread_rwlock_trywrlock(lock);
  return view.TryFor(kToWrite) ? 0 : EBUSY;
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_rwlock_timedwrlock(pthread_rwlock_t* lock,
                                                            const timespec* when) {
  ReadWriteLock view(lock);
  return view.StaysLibcs() ? pthread_rwlock_timedwrlock(lock, when)
                           : view.LockUntil(kToWrite, CLOCK_REALTIME, when);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                                            const timespec* when) {
  ReadWriteLock view(lock);
  return view.StaysLibcs() ? pthread_rwlock_clockwrlock(lock, clock, when)
                           : view.LockUntil(kToWrite, clock, when);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  ReadWriteLock view(lock);
  return view.StaysLibcs() ? pthread_rwlock_unlock(lock) : view.Unlock();
}
