// A one-time signal between kernel threads, for main functions and tests: absl::Notification with
// ThreadSanitizer annotations, because the system's Abseil is built without ThreadSanitizer.
//
// Threads: thread-safe. Waiting blocks the kernel thread, so never wait on a loop.

#pragma once

#include "absl/synchronization/notification.h"

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace neptune {

class Notification {
 public:
  // REQUIRES: called at most once.
  void Notify() {
#ifdef __SANITIZE_THREAD__
    __tsan_release(this);
#endif
    notification_.Notify();
  }
  void WaitForNotification() {
    notification_.WaitForNotification();
    Acquire();
  }
  // Returns false on timeout.
  bool WaitForNotificationWithTimeout(absl::Duration timeout) {
    const bool notified = notification_.WaitForNotificationWithTimeout(timeout);
    if (notified) Acquire();
    return notified;
  }

 private:
  void Acquire() {
#ifdef __SANITIZE_THREAD__
    __tsan_acquire(this);
#endif
  }

  absl::Notification notification_;
};

}  // namespace neptune
