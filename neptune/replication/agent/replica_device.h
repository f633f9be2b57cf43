// The capsules of a node's replicas: the device capsules in which they run their blocking calls,
// one for each lane, and those of their calls to other nodes.
//
//   stores its log ────────► log        storing continues while
//   executes, flushes ─────► apply        readers fill their capsule
//   reads of its service ──► read         or a snapshot reads everything
//   snapshots, restores ───► snapshot
//
// A lane is a part of the path that rules of capsules see:
// kReplicationDevice/SERVICE/PARTITION/LANE. A spec may give any of them, or all together, to a
// capsule of its own. Calls to other replicas have capsules too, because users' calls may fill the
// default one, whatever its bounds are: heartbeats and votes must not wait for them.
//
// Threads: Run on a user-level thread of any loop; the rest on any thread.
// Errors: those of the call; kCancelled the node is stopping.

#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <string_view>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/capsule/capsule_stack.h"

namespace neptune {

// Prefix of the paths.
inline constexpr char kReplicationDevice[] = "/neptune/replication";

// What a call is for, the most urgent first.
enum class ReplicaLane : uint8_t { kLog, kApply, kRead, kSnapshot };
inline constexpr std::array kReplicaLanes = {ReplicaLane::kLog, ReplicaLane::kApply,
                                             ReplicaLane::kRead, ReplicaLane::kSnapshot};
// The name in paths: "log", "apply", ...
std::string_view NameOf(ReplicaLane lane);

// Creates the device capsules replication-LANE of a node, for each lane unless a capsule takes it
// already. Log and apply refuse nothing that a node can have under way; a snapshot has one helper
// thread. Creates the network capsules replication-calls and replication-pulls of messages and of
// pulled snapshots on top of the stack, unless a capsule names their service, or nothing bounds
// them. Errors: those of CapsuleStack::Create.
Status MakeReplicationCapsules(CapsuleStack& stack);

class ReplicaDevice {
 public:
  // `capsules` may be null: calls then block the caller. `stopping` must outlive this object.
  ReplicaDevice(CapsuleStack* capsules, const ServiceName& service, PartitionId partition,
                const std::atomic<bool>& stopping);

  // Waits for the end of the call however long it takes, and retries while the capsule is full.
  Status Run(ReplicaLane lane, const std::function<Status()>& call) const;
  const std::string& path(ReplicaLane lane) const { return paths_[static_cast<size_t>(lane)]; }

 private:
  CapsuleStack* const capsules_;
  std::array<std::string, kReplicaLanes.size()> paths_;
  const std::atomic<bool>& stopping_;
};

}  // namespace neptune
