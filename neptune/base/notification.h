// A one-time signal between kernel threads, for mains and tests: absl::Notification, which
// ThreadSanitizer is told of, because the system's Abseil is built without it.
//
// Threads: thread-safe. Waiting blocks the kernel thread: never on a loop.

#pragma once

#include "absl/synchronization/notification.h"

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace neptune {

class Notification {
 public:
  // REQUIRES: called once.
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
  // False if nobody notified by then.
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
