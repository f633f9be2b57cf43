#include "neptune/replication/agent/replica_device.h"

#include "neptune/capsule/device_call.h"
#include "neptune/thread/synchronization.h"

namespace neptune {
namespace {

// Delay before a device call is retried that an overloaded device capsule refused.
constexpr Duration kDevicePause = std::chrono::milliseconds(5);

}  // namespace

Status ReplicaDevice::Run(const std::function<Status()>& call) const {
  while (!stopping_) {
    if (capsules_ == nullptr) return call();
    StatusOr<Status> ran = RunOnDevice(*capsules_, path_, call, {}, DeviceWait::kForEnd);
    if (ran.ok()) return *std::move(ran);
    if (this_thread::SleepFor(kDevicePause) == ParkResult::kStopping) break;
  }
  return Cancelled("the node is stopping");
}

}  // namespace neptune
