// Tells a loop when file descriptors of the operating system, opened by others, become ready.
//
// What waits for such a descriptor tries its call first, and waits only after the system has answered that it would
// block. So it is enough to be told of changes.
//
// Source: [Chu05] V.C (a master kernel thread polls the intercepted sockets).
// Departs from source: each kernel thread polls for its own user-level threads.
// Threads: Unwatch from any; else the loop's own.
// Errors: kInvalidArgument what is never waited for: a regular file, no descriptor, one that is watched already;
//   kResourceExhausted the system's limit of watched descriptors.

#pragma once

#include <cstdint>
#include <memory>

#include "neptune/base/status.h"

namespace neptune {

class ReadinessWatcher {
 public:
  virtual ~ReadinessWatcher() = default;
  // poll(2)'s bits. On the loop's thread.
  virtual void OnReady(uint32_t events) = 0;
};

class DescriptorReadiness {
 public:
  virtual ~DescriptorReadiness() = default;
  // Tells `watcher` what the descriptor is ready for now, and from then on of each change. A watcher has one
  // descriptor.
  virtual Status Watch(int descriptor, std::shared_ptr<ReadinessWatcher> watcher) = 0;
  // The watcher is told nothing any more, but for what is under way. Before the descriptor is closed.
  virtual void Unwatch(int descriptor, std::shared_ptr<ReadinessWatcher> watcher) = 0;
};

}  // namespace neptune
