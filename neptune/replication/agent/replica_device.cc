#include "neptune/replication/agent/replica_device.h"

#include <algorithm>

#include "neptune/base/strings.h"
#include "neptune/capsule/device_call.h"
#include "neptune/replication/agent/replication_services.h"
#include "neptune/thread/synchronization.h"

namespace neptune {
namespace {

// Delay before a device call is retried that an overloaded device capsule refused.
constexpr Duration kDevicePause = std::chrono::milliseconds(5);
// More than a node's replicas have under way at once: each has a few.
constexpr size_t kOwnCallCountMax = 100'000;

std::string PathOf(std::string_view service, std::string_view partition, ReplicaLane lane) {
  return StrCat(kReplicationDevice, "/", service, "/", partition, "/", NameOf(lane));
}

StatusOr<CapsuleConfig> CapsuleOf(ReplicaLane lane) {
  CapsuleConfig config;
  config.name = StrCat("replication-", NameOf(lane));
  config.type = ResourceType::kDevice;
  NEPTUNE_ASSIGN_OR_RETURN(auto rule,
                           ClassificationRule::Parse(StrCat("disk:", PathOf("*", "*", lane))));
  config.rules.push_back(std::move(rule));
  if (lane == ReplicaLane::kLog || lane == ReplicaLane::kApply) {
    config.limits.resident_count_max = kOwnCallCountMax;
    config.limits.timeout = kNoTimeout;
  }
  if (lane == ReplicaLane::kSnapshot) config.processing_count_max = 1;
  return config;
}

// Creates a capsule for the calls of the service, which nothing but their number bounds.
Status MakeCallCapsule(CapsuleStack& stack, const char* name, const char* service) {
  const std::string rule = StrCat("service:", service);
  const auto found = stack.Find(NetworkOperation{.service = service, .partition = PartitionId(0)});
  if (found == nullptr) return OkStatus();
  const std::vector<ClassificationRule> rules = found->config().rules;
  const bool is_named = std::any_of(rules.begin(), rules.end(),
                                    [&](const auto& one) { return one.text().starts_with(rule); });
  if (is_named) return OkStatus();
  CapsuleConfig config;
  config.name = name;
  config.type = ResourceType::kNetwork;
  NEPTUNE_ASSIGN_OR_RETURN(auto parsed, ClassificationRule::Parse(rule));
  config.rules.push_back(std::move(parsed));
  config.limits.resident_count_max = kOwnCallCountMax;
  config.limits.timeout = kNoTimeout;
  return stack.Create(config);
}

}  // namespace

std::string_view NameOf(ReplicaLane lane) {
  switch (lane) {
    case ReplicaLane::kLog:
      return "log";
    case ReplicaLane::kApply:
      return "apply";
    case ReplicaLane::kRead:
      return "read";
    case ReplicaLane::kSnapshot:
      return "snapshot";
  }
  return "";
}

Status MakeReplicationCapsules(CapsuleStack& stack) {
  for (const ReplicaLane lane : kReplicaLanes) {
    if (stack.Find(DeviceOperation{PathOf("any", "0", lane)}) != nullptr) continue;
    NEPTUNE_ASSIGN_OR_RETURN(const CapsuleConfig config, CapsuleOf(lane));
    NEPTUNE_RETURN_IF_ERROR(stack.Create(config));
  }
  NEPTUNE_RETURN_IF_ERROR(MakeCallCapsule(stack, "replication-calls", kReplicationService));
  return MakeCallCapsule(stack, "replication-pulls", kSnapshotService);
}

ReplicaDevice::ReplicaDevice(CapsuleStack* capsules, const ServiceName& service,
                             PartitionId partition, const std::atomic<bool>& stopping)
    : capsules_(capsules), stopping_(stopping) {
  for (const ReplicaLane lane : kReplicaLanes) {
    paths_[static_cast<size_t>(lane)] = PathOf(service.value(), StrCat(partition), lane);
  }
}

Status ReplicaDevice::Run(ReplicaLane lane, const std::function<Status()>& call) const {
  while (!stopping_) {
    if (capsules_ == nullptr) return call();
    Status result;
    const Status ran = RunTaskOnDevice(
        *capsules_, path(lane), [&] { result = call(); }, {}, DeviceWait::kForEnd);
    if (ran.ok()) return result;
    if (this_thread::SleepFor(kDevicePause) == ParkResult::kStopping) break;
  }
  return Cancelled("the node is stopping");
}

}  // namespace neptune
