#include "neptune/interpose/pthread/waiter.h"

#include <glog/logging.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "neptune/interpose/interruption.h"

namespace neptune::interpose {
namespace {

constexpr auto kSecond = std::chrono::seconds(1);

static_assert(sizeof(std::atomic<int>) == sizeof(int), "the kernel reads the futex word itself");

// Returns when woken, at the deadline, or spuriously; false if a signal was handled.
bool FutexWait(std::atomic<int>* word, int value, TimePoint deadline) {
  const Duration since_start = deadline.time_since_epoch();
  const timespec at{.tv_sec = since_start / kSecond, .tv_nsec = (since_start % kSecond).count()};
  const long result = syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value,
                              deadline == kNever ? nullptr : &at, nullptr, FUTEX_BITSET_MATCH_ANY);
  return result == 0 || errno != EINTR;
}

void FutexWake(std::atomic<int>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace

TimePoint MonotonicNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return TimePoint(std::chrono::seconds(now.tv_sec) + Duration(now.tv_nsec));
}

PthreadWaiter::Ended PthreadWaiter::Wait(const Until& until) {
  if (woken()) return Ended::kWoken;
  const int saved_errno = errno;
  const Ended ended = thread_ != nullptr ? Park(until) : Block(until);
  errno = saved_errno;
  return ended;
}

PthreadWaiter::Ended PthreadWaiter::Park(const Until& until) {
  while (!woken()) {
    const Interruption interruption = ConsumeInterruption();
    if (until.interrupted && interruption == Interruption::kEnd) return Ended::kInterrupted;
    if (until.deadline == kNever) {
      this_thread::ParkUntilWoken();
    } else if (this_thread::Park(until.deadline) != ParkResult::kWoken) {
      return woken() ? Ended::kWoken : Ended::kDeadline;
    }
  }
  return Ended::kWoken;
}

PthreadWaiter::Ended PthreadWaiter::Block(const Until& until) {
  while (!woken()) {
    if (until.deadline != kNever && MonotonicNow() >= until.deadline) return Ended::kDeadline;
    if (!FutexWait(&woken_, 0, until.deadline) && until.interrupted && !woken()) {
      return Ended::kInterrupted;
    }
  }
  return Ended::kWoken;
}

// The kernel gets the address after the waiter may be gone: at worst another futex at the same
// address is woken spuriously, which every user of a futex must tolerate.
void PthreadWaiter::Wake() {
  const ThreadRef thread(thread_);
  woken_.store(1, std::memory_order_release);
  if (thread) {
    thread->Wake();
    return;
  }
  const int saved_errno = errno;
  FutexWake(&woken_);
  errno = saved_errno;
}

}  // namespace neptune::interpose
