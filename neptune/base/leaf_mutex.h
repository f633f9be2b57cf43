// A mutex for short sections that never wait for anything else.
//
// This is absl::Mutex plus a counter: parking a user-level thread while its kernel thread holds any
// LeafMutex is a bug, and the park detects it (LeafMutex::HeldByThisThread).
//
// Threads: thread-safe. The system's Abseil is built without ThreadSanitizer, so each lock and
//   unlock is annotated here.

#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace neptune {

class ABSL_LOCKABLE LeafMutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    mutex_.Lock();
#ifdef __SANITIZE_THREAD__
    __tsan_acquire(&mutex_);
#endif
    ++held_count_;
  }
  void Unlock() ABSL_UNLOCK_FUNCTION() {
    --held_count_;
#ifdef __SANITIZE_THREAD__
    __tsan_release(&mutex_);
#endif
    mutex_.Unlock();
  }
  // Returns true if the calling kernel thread holds any LeafMutex.
  static bool HeldByThisThread() { return held_count_ > 0; }

 private:
  __attribute__((tls_model("initial-exec"))) static thread_local int held_count_;
  absl::Mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE LeafLock {
 public:
  explicit LeafLock(LeafMutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_->Lock();
  }
  ~LeafLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }
  LeafLock(const LeafLock&) = delete;
  LeafLock& operator=(const LeafLock&) = delete;

 private:
  LeafMutex* const mutex_;
};

}  // namespace neptune
