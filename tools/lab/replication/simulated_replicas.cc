#include "tools/lab/replication/simulated_replicas.h"

#include <algorithm>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/replication/agent/replication.h"
#include "neptune/world/sim/simulator.h"

namespace search::lab {

using neptune::MemberIndex;
using neptune::PartitionId;
using neptune::ReplicaAgent;
using neptune::ReplicaRole;
using neptune::StrAppend;
using neptune::StrCat;

namespace {

bool ServesNow(const ReplicaAgent::State& state) {
  return state.failure.ok() && state.repair.ok() && !state.is_distrusted && !state.is_restoring &&
         state.executed >= state.readable_from;
}

bool LeadsAtRest(const ReplicaAgent::State& state) {
  return state.role == ReplicaRole::kPrimary && state.rests && state.failure.ok();
}

}  // namespace

std::string SimulatedReplicas::NameOf(int server) { return StrCat("s", server); }

std::shared_ptr<ReplicaAgent> SimulatedReplicas::Agent(int server, uint32_t partition) const {
  neptune::Node* const node = nodes_.Find(NameOf(server));
  neptune::Replication* const replication = node == nullptr ? nullptr : node->FindReplication();
  return replication == nullptr ? nullptr : replication->Find(service_, PartitionId(partition));
}

bool SimulatedReplicas::IsWhole(int server, uint32_t partition, bool is_write_anywhere) const {
  const std::shared_ptr<ReplicaAgent> agent = Agent(server, partition);
  if (agent == nullptr) return false;
  const ReplicaAgent::State state = agent->status();
  if (!ServesNow(state)) return false;
  if (is_write_anywhere) return state.role == ReplicaRole::kPeer;
  if (state.role != ReplicaRole::kPrimary && state.role != ReplicaRole::kSecondary) return false;
  for (int member = 0; member < server_count_; ++member) {
    if (!state.write_set.contains(static_cast<MemberIndex>(member))) return false;
  }
  return true;
}

bool SimulatedReplicas::AreWhole(bool is_write_anywhere) const {
  for (uint32_t partition = 0; partition < partition_count_; ++partition) {
    for (int server = 0; server < server_count_; ++server) {
      if (!IsWhole(server, partition, is_write_anywhere)) return false;
    }
  }
  return true;
}

std::optional<ReplicaAgent::State> SimulatedReplicas::Primary(uint32_t partition) const {
  for (int server = 0; server < server_count_; ++server) {
    const std::shared_ptr<ReplicaAgent> agent = Agent(server, partition);
    if (agent == nullptr) continue;
    ReplicaAgent::State state = agent->status();
    const bool leads =
        state.role == ReplicaRole::kPrimary && state.IsLeased(nodes_.simulator().now());
    if (leads && state.failure.ok()) return state;
  }
  return RestingPrimary(partition);
}

// Only if every member is there and knows no other: one that was cut off may have been replaced.
std::optional<ReplicaAgent::State> SimulatedReplicas::RestingPrimary(uint32_t partition) const {
  std::optional<ReplicaAgent::State> primary;
  std::vector<ReplicaAgent::State> members;
  for (int server = 0; server < server_count_; ++server) {
    const std::shared_ptr<ReplicaAgent> agent = Agent(server, partition);
    if (agent == nullptr) return std::nullopt;
    members.push_back(agent->status());
    if (LeadsAtRest(members.back())) primary = members.back();
  }
  const auto follows = [&](const ReplicaAgent::State& member) {
    return member.epoch == primary->epoch && member.primary == primary->primary;
  };
  if (!primary || !std::all_of(members.begin(), members.end(), follows)) return std::nullopt;
  return primary;
}

size_t SimulatedReplicas::CountResting() const {
  size_t count = 0;
  for (uint32_t partition = 0; partition < partition_count_; ++partition) {
    bool rests = false;
    for (int server = 0; server < server_count_; ++server) {
      const std::shared_ptr<ReplicaAgent> agent = Agent(server, partition);
      rests = rests || (agent != nullptr && LeadsAtRest(agent->status()));
    }
    count += rests ? 1 : 0;
  }
  return count;
}

bool SimulatedReplicas::HasEverything(int server, uint32_t partition) const {
  const std::shared_ptr<ReplicaAgent> agent = Agent(server, partition);
  const std::optional<ReplicaAgent::State> primary = Primary(partition);
  if (agent == nullptr || !primary) return false;
  const ReplicaAgent::State state = agent->status();
  return ServesNow(state) && state.epoch == primary->epoch &&
         (state.role == ReplicaRole::kPrimary || state.role == ReplicaRole::kSecondary) &&
         primary->write_set.contains(static_cast<MemberIndex>(server)) &&
         state.last_lsn >= primary->committed;
}

bool SimulatedReplicas::HasEverything(const std::string& server) const {
  for (int i = 0; i < server_count_; ++i) {
    if (NameOf(i) != server) continue;
    for (uint32_t partition = 0; partition < partition_count_; ++partition) {
      if (!HasEverything(i, partition)) return false;
    }
  }
  return true;
}

std::string SimulatedReplicas::Describe() const {
  std::string text;
  for (uint32_t partition = 0; partition < partition_count_; ++partition) {
    for (int server = 0; server < server_count_; ++server) {
      const std::shared_ptr<ReplicaAgent> agent = Agent(server, partition);
      StrAppend(&text, " ", NameOf(server), "/", partition, " ");
      if (agent == nullptr) {
        StrAppend(&text, "is not there;");
        continue;
      }
      const ReplicaAgent::State state = agent->status();
      StrAppend(&text, neptune::NameOf(state.role), " of epoch ", state.epoch, " with ",
                state.last_lsn, " received, ", state.executed, " executed");
      for (const neptune::Status& what :
           {state.failure, state.damage, state.repair, state.restore_failure}) {
        if (!what.ok()) StrAppend(&text, ", ", neptune::ToStd(what.ToString()));
      }
      StrAppend(&text, ";");
    }
  }
  return text;
}

}  // namespace search::lab
