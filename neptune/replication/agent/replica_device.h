// Runs a replica's blocking calls in the device capsule of its partition.
//
// Threads: Run on a user-level thread of any loop.
// Errors: those of the call; kCancelled the node is stopping.

#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "neptune/base/status.h"
#include "neptune/capsule/capsule_stack.h"

namespace neptune {

class ReplicaDevice {
 public:
  // `capsules` may be null: calls then block the caller. `stopping` must outlive this object.
  ReplicaDevice(CapsuleStack* capsules, std::string path, const std::atomic<bool>& stopping)
      : capsules_(capsules), path_(std::move(path)), stopping_(stopping) {}

  // Waits for the end of the call however long it takes, and retries while the capsule is full.
  Status Run(const std::function<Status()>& call) const;
  const std::string& path() const { return path_; }

 private:
  CapsuleStack* const capsules_;
  const std::string path_;
  const std::atomic<bool>& stopping_;
};

}  // namespace neptune
