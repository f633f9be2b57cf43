// Semaphores for user-level and kernel threads, in the memory of sem_t.
//
// libc keeps a semaphore as a 64-bit number, with the value in the lower half and the number of
// waiters in the upper half, followed by the process-shared flag. Here the upper half only says
// whether any thread is in the parking lot. A unit is handed to a waiter directly, so no other
// thread can take it in between.
//
// sem_post may be called by a signal handler: without waiters it is one atomic operation; with
// waiters it takes a lock under which signals are blocked.
//
// Source: POSIX. Departs from source: a process-shared semaphore, e.g. of sem_open, stays libc's,
//   and waiting for one blocks the kernel thread.

#include <semaphore.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <limits>

#include "neptune/interpose/preload/call_names.h"
#include "neptune/interpose/pthread/parking_lot.h"
#include "neptune/interpose/pthread/time.h"

namespace neptune::interpose {
namespace {

// Layout of libc.
struct SemaphoreData {
  uint64_t state;
  int shared;
};
static_assert(sizeof(SemaphoreData) <= sizeof(sem_t));

constexpr uint64_t kWaitedFor = uint64_t{1} << 32;
constexpr uint64_t kValueMask = kWaitedFor - 1;

// A view of the program's object.
class Semaphore {
 public:
  explicit Semaphore(sem_t* semaphore)
      : data_(*reinterpret_cast<SemaphoreData*>(semaphore)), state_(data_.state) {}

  bool StaysLibcs() const { return data_.shared != 0; }

  bool TryTake() {
    uint64_t state = state_.load(std::memory_order_relaxed);
    while ((state & kValueMask) != 0) {
      if (state_.compare_exchange_weak(state, state - 1, std::memory_order_acquire)) return true;
    }
    return false;
  }

  // Returns 0, ETIMEDOUT or EINTR.
  int Take(TimePoint deadline = kNever) {
    if (TryTake()) return 0;
    const ParkingLot::WaitResult wait = ParkingLot::Get().Wait(
        {.address = &data_, .until = {.deadline = deadline, .interrupted = true}},
        [this] { return !AcquireOrMark(); });
    if (wait.ended == ParkingLot::Ended::kDeadline) return ETIMEDOUT;
    return wait.ended == ParkingLot::Ended::kInterrupted ? EINTR : 0;
  }

  int AcquireUntil(clockid_t clock, const timespec* when) {
    if (TryTake()) return 0;
    TimePoint deadline;
    const int error = DeadlineOf(clock, *when, &deadline);
    return error != 0 ? error : Take(deadline);
  }

  int Post() {
    uint64_t state = state_.load(std::memory_order_relaxed);
    while ((state & kWaitedFor) == 0) {
      if ((state & kValueMask) == static_cast<uint64_t>(SEM_VALUE_MAX)) return EOVERFLOW;
      if (state_.compare_exchange_weak(state, state + 1, std::memory_order_release)) return 0;
    }
    ParkingLot::Get().AtAddress(&data_, [this](ParkingLot::Queue& queue) {
      ParkingLot::Waiter* const next = queue.first();
      if (next != nullptr) {
        queue.LetGo(next, 0);
      } else {
        // All waiters gave up. The value is 0 while the mark is set, so this cannot overflow.
        state_.fetch_add(1 - kWaitedFor, std::memory_order_release);
      }
    });
    return 0;
  }

 private:
  // Runs under the bucket's lock: takes a unit, or marks that a thread waits.
  bool AcquireOrMark() {
    for (;;) {
      if (TryTake()) return true;
      uint64_t state = state_.load(std::memory_order_relaxed);
      if ((state & kValueMask) != 0) continue;
      if (state_.compare_exchange_weak(state, kWaitedFor, std::memory_order_relaxed)) return false;
    }
  }

  SemaphoreData& data_;
  std::atomic_ref<uint64_t> state_;
};

// Converts an error number to the convention of semaphore functions: -1 and errno.
int Answer(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

}  // namespace
}  // namespace neptune::interpose

using neptune::interpose::Answer;
using neptune::interpose::Semaphore;

NEPTUNE_PRELOAD_CALL int neptune_sem_wait(sem_t* semaphore) {
  Semaphore view(semaphore);
  return view.StaysLibcs() ? sem_wait(semaphore) : Answer(view.Take());
}

NEPTUNE_PRELOAD_CALL int neptune_sem_trywait(sem_t* semaphore) {
  Semaphore view(semaphore);
  if (view.StaysLibcs()) return sem_trywait(semaphore);
  return Answer(view.TryTake() ? 0 : EAGAIN);
}

NEPTUNE_PRELOAD_CALL int neptune_sem_timedwait(sem_t* semaphore, const timespec* when) {
  Semaphore view(semaphore);
  return view.StaysLibcs() ? sem_timedwait(semaphore, when)
                           : Answer(view.AcquireUntil(CLOCK_REALTIME, when));
}

NEPTUNE_PRELOAD_CALL int neptune_sem_clockwait(sem_t* semaphore, clockid_t clock,
                                               const timespec* when) {
  Semaphore view(semaphore);
  return view.StaysLibcs() ? sem_clockwait(semaphore, clock, when)
                           : Answer(view.AcquireUntil(clock, when));
}

NEPTUNE_PRELOAD_CALL int neptune_sem_post(sem_t* semaphore) {
  Semaphore view(semaphore);
  return view.StaysLibcs() ? sem_post(semaphore) : Answer(view.Post());
}
