// A mutex for kernel threads that may be held while something blocks, and a condition to wait for.
//
// The standard library's, with the annotations of clang's thread safety analysis. For short
// sections there is LeafMutex. The system's Abseil is built without ThreadSanitizer, which cannot
// see what absl::Mutex orders; it sees these.
//
// Threads: thread-safe. Kernel threads only: a user-level thread that waits holds up its loop.

#pragma once

#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "neptune/base/time.h"

namespace neptune {

class ABSL_LOCKABLE BlockingMutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  friend class BlockingCondition;
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE BlockingLock {
 public:
  explicit BlockingLock(BlockingMutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_->Lock();
  }
  ~BlockingLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }
  BlockingLock(const BlockingLock&) = delete;
  BlockingLock& operator=(const BlockingLock&) = delete;

 private:
  BlockingMutex* const mutex_;
};

class BlockingCondition {
 public:
  // Wakes one of the threads that wait, or all of them.
  void Signal() { changed_.notify_one(); }
  void SignalAll() { changed_.notify_all(); }

  // Waits for a signal; may also return without one. The mutex is unlocked meanwhile.
  void Wait(BlockingMutex* mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> held(mutex->mutex_, std::adopt_lock);
    changed_.wait(held);
    held.release();
  }
  // The same for at most `limit`, of the kernel's monotonic clock. False: without a signal.
  bool WaitFor(BlockingMutex* mutex, Duration limit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> held(mutex->mutex_, std::adopt_lock);
    const bool is_signalled = changed_.wait_for(held, limit) == std::cv_status::no_timeout;
    held.release();
    return is_signalled;
  }

 private:
  std::condition_variable changed_;
};

}  // namespace neptune
