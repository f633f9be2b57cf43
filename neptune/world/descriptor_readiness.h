// Readiness notifications for operating system file descriptors that other code opened.
//
// A caller first tries its call and waits only after the system has returned EAGAIN, so
// notifications of changes are sufficient.
//
// Source: [Chu05] V.C (a master kernel thread polls the intercepted sockets).
// Departs from source: each kernel thread polls for its own user-level threads.
// Threads: Unwatch from any thread; everything else on the loop's own.
// Errors: kInvalidArgument the descriptor cannot be waited for: a regular file, not a descriptor,
//   or watched already; kResourceExhausted the system's limit of watched descriptors is reached.

#pragma once

#include <cstdint>
#include <memory>

#include "neptune/base/status.h"

namespace neptune {

class ReadinessWatcher {
 public:
  virtual ~ReadinessWatcher() = default;
  // `events` holds the bits of poll(2). Runs on the loop's thread.
  virtual void OnReady(uint32_t events) = 0;
  // The system refuses to watch the descriptor of a watcher that was accepted before; no event will
  // come. Runs on the loop's thread.
  virtual void OnRefused(const Status& reason) { (void)reason; }
};

class DescriptorReadiness {
 public:
  virtual ~DescriptorReadiness() = default;
  // Notifies `watcher` of the descriptor's current readiness and then of each change. A watcher has
  // one descriptor.
  virtual Status Watch(int descriptor, std::shared_ptr<ReadinessWatcher> watcher) = 0;
  // Stops notifications, except those already in progress. Call it before the descriptor is closed.
  virtual void Unwatch(int descriptor, std::shared_ptr<ReadinessWatcher> watcher) = 0;
};

}  // namespace neptune
