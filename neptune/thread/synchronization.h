// Mutex, condition variable and one-shot event for user-level threads of any loops of the process.
//
// They may be held across waits; a LeafMutex may not. A mutex is granted to its waiters in order.
//
// Source: [Chu05] 5.A (the thread library's primitives).
// Threads: thread-safe; Lock and Wait on user-level threads only, Notify and Set from any thread.
// Units: deadlines are TimePoint.
// Errors: a wait ends early with kStopping when the caller's scheduler stops; Lock always waits.

#pragma once

#include <deque>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/thread/user_thread.h"

namespace neptune {

class ABSL_LOCKABLE ThreadMutex {
 public:
  ThreadMutex() = default;
  ThreadMutex(const ThreadMutex&) = delete;
  ThreadMutex& operator=(const ThreadMutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION();
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true);
  // REQUIRES: the caller holds it.
  void Unlock() ABSL_UNLOCK_FUNCTION();

 private:
  bool OwnedBy(const UserThread* thread);

  LeafMutex state_mutex_;
  UserThread* owner_ ABSL_GUARDED_BY(state_mutex_) = nullptr;
  std::deque<ThreadRef> waiters_ ABSL_GUARDED_BY(state_mutex_);
};

class ABSL_SCOPED_LOCKABLE ThreadLock {
 public:
  explicit ThreadLock(ThreadMutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_->Lock();
  }
  ~ThreadLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }
  ThreadLock(const ThreadLock&) = delete;
  ThreadLock& operator=(const ThreadLock&) = delete;

 private:
  ThreadMutex* const mutex_;
};

class ThreadCondition {
 public:
  // Releases the mutex, waits for a notification, and locks the mutex again. Wakes may be spurious:
  // test the condition in a loop.
  ParkResult Wait(ThreadMutex& mutex, TimePoint deadline = kNever)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void NotifyOne();
  void NotifyAll();

 private:
  void Remove(UserThread* thread);

  LeafMutex state_mutex_;
  std::deque<ThreadRef> waiters_ ABSL_GUARDED_BY(state_mutex_);
};

// Set once, from any thread; wakes the single user-level thread that waits for it.
class OneShotEvent {
 public:
  OneShotEvent() : waiter_(UserThread::Current()) {}

  void Set() {
    // A copy, because this object may be destroyed once set_ is visible
    const ThreadRef waiter = waiter_;
    set_.store(true, std::memory_order_release);
    waiter->Wake();
  }
  bool is_set() const { return set_.load(std::memory_order_acquire); }
  // Returns kWoken when set. Only on the thread that made the event.
  ParkResult Wait(TimePoint deadline = kNever) {
    while (!is_set()) {
      const ParkResult result = this_thread::Park(deadline);
      if (result != ParkResult::kWoken && !is_set()) return result;
    }
    return ParkResult::kWoken;
  }

 private:
  const ThreadRef waiter_;
  std::atomic<bool> set_{false};
};

}  // namespace neptune
