#include "neptune/balancing/replica_chooser.h"

#include <algorithm>

#include "neptune/balancing/poll_policy.h"
#include "neptune/balancing/probe_pool_policy.h"
#include "neptune/balancing/random_policies.h"

namespace neptune {
namespace {

bool Contains(const std::vector<NodeId>& nodes, const NodeId& node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

std::vector<size_t> Untried(const std::vector<Replica>& replicas,
                            const std::vector<NodeId>& tried) {
  std::vector<size_t> candidates;
  candidates.reserve(replicas.size());
  for (size_t i = 0; i < replicas.size(); ++i) {
    if (!Contains(tried, replicas[i].node)) candidates.push_back(i);
  }
  return candidates;
}

// The list of policies.
std::unique_ptr<ReplicaPolicy> MakePolicy(Loop& loop, const BalancingOptions& options,
                                          const ReplicaChooser::Environment& environment,
                                          PollingAgent& polling) {
  if (options.make_policy != nullptr) return options.make_policy(loop);
  switch (options.policy) {
    case BalancingPolicy::kRandom:
      break;
    case BalancingPolicy::kRoundRobin:
      return std::make_unique<RoundRobinPolicy>();
    case BalancingPolicy::kBroadcast:
      return std::make_unique<BroadcastPolicy>(loop.random());
    case BalancingPolicy::kPoll:
      return std::make_unique<PollPolicy>(
          options.polling,
          PollPolicy::Parts{loop, polling, environment.doubt, environment.slow_polls});
    case BalancingPolicy::kProbePool:
      return std::make_unique<ProbePoolPolicy>(loop, options.probing, polling);
  }
  return std::make_unique<RandomPolicy>(loop.random());
}

}  // namespace

StatusOr<std::unique_ptr<ReplicaChooser>> ReplicaChooser::Open(Loop& loop,
                                                               const BalancingOptions& options,
                                                               const Environment& environment) {
  std::unique_ptr<ReplicaChooser> chooser(new ReplicaChooser(options));
  NEPTUNE_ASSIGN_OR_RETURN(chooser->polling_,
                           PollingAgent::Open(
                               loop, environment.bind,
                               [self = chooser.get()](uint64_t cookie, const LoadReport& report) {
                                 self->policy_->OnReport(cookie, report);
                               },
                               environment.network));
  chooser->policy_ = MakePolicy(loop, options, environment, *chooser->polling_);
  return chooser;
}

std::optional<ReplicaChoice> ReplicaChooser::Choose(const ServiceName& service,
                                                    PartitionId partition,
                                                    const std::vector<Replica>& replicas,
                                                    const std::vector<NodeId>& tried,
                                                    TimePoint deadline, const ReplicaHints& hints) {
  if (replicas.size() == 1 && !chooses_single_) {
    if (Contains(tried, replicas.front().node)) return std::nullopt;
    return ReplicaChoice{};
  }
  const std::vector<size_t> candidates = Untried(replicas, tried);
  if (candidates.empty()) return std::nullopt;
  const std::optional<LocalReplica> local = FindLocal(replicas, candidates);
  const ReplicaChoice choice =
      policy_->Choose({service, partition, replicas, candidates, deadline, local, hints});
  if (local && choice.index == local->index && plan_count_ > 0) ++planned_local_;
  return choice;
}

std::optional<LocalReplica> ReplicaChooser::FindLocal(const std::vector<Replica>& replicas,
                                                      const std::vector<size_t>& candidates) const {
  if (load_index_ == nullptr) return std::nullopt;
  for (const size_t candidate : candidates) {
    if (replicas[candidate].call_endpoint == own_) {
      return LocalReplica{candidate, load_index_() + planned_local_};
    }
  }
  return std::nullopt;
}

}  // namespace neptune
