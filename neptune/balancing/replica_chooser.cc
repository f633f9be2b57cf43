#include "neptune/balancing/replica_chooser.h"

#include <algorithm>

namespace neptune {
namespace {

// A server that missed this many polls in a row is polled only occasionally, so that the others do
// not wait for it each time until the yellow page removes it.
constexpr int kMissedPollsMax = 3;
constexpr uint64_t kPollSilentOneIn = 16;

// Returns false if the status means that the server could not do its work, whatever the request.
bool Worked(const Status& status) {
  switch (status.code()) {
    case StatusCode::kInternal:
    case StatusCode::kUnavailable:
    case StatusCode::kResourceExhausted:
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kDataLoss:
    case StatusCode::kUnknown:
      return false;
    default:
      return true;
  }
}

std::vector<size_t> Untried(const std::vector<Replica>& replicas,
                            const std::vector<NodeId>& tried) {
  std::vector<size_t> candidates;
  candidates.reserve(replicas.size());
  for (size_t i = 0; i < replicas.size(); ++i) {
    if (std::find(tried.begin(), tried.end(), replicas[i].node) == tried.end()) {
      candidates.push_back(i);
    }
  }
  return candidates;
}

// Returns the indices 0, 1, ... count - 1 that are not in `candidates`.
std::vector<size_t> Complement(const std::vector<size_t>& candidates, size_t count) {
  std::vector<size_t> missing;
  if (candidates.size() == count) return missing;
  size_t next = 0;
  for (size_t i = 0; i < count; ++i) {
    if (next < candidates.size() && candidates[next] == i) {
      ++next;
    } else {
      missing.push_back(i);
    }
  }
  return missing;
}

}  // namespace

// The loop's state for one partition's servers.
struct ReplicaChooser::Pool {
  explicit Pool(const ProbePoolOptions& options) : servers(options) {}

  ServiceName service;
  uint32_t number = 0;
  ProbePool servers;
  std::vector<NodeId> nodes;
  std::vector<Endpoint> probe_endpoints;
  TimerId refresh = 0;

  void SetReplicas(const std::vector<Replica>& replicas) {
    const auto same = [](const NodeId& node, const Replica& replica) {
      return node == replica.node;
    };
    if (!std::equal(nodes.begin(), nodes.end(), replicas.begin(), replicas.end(), same)) {
      nodes.clear();
      for (const Replica& replica : replicas) nodes.push_back(replica.node);
      servers.SetServers(nodes);
      probe_endpoints.resize(replicas.size());
    }
    for (size_t i = 0; i < replicas.size(); ++i) probe_endpoints[i] = replicas[i].probe_endpoint;
  }
};

ReplicaChooser::ReplicaChooser(Loop& loop, const BalancingOptions& options,
                               const Environment& environment)
    : loop_(loop), options_(options), environment_(environment) {}

ReplicaChooser::~ReplicaChooser() {
  for (const auto& [key, pool] : pools_) {
    if (pool->refresh != 0) loop_.CancelTimer(pool->refresh);
  }
}

StatusOr<std::unique_ptr<ReplicaChooser>> ReplicaChooser::Open(Loop& loop,
                                                               const BalancingOptions& options,
                                                               const Environment& environment) {
  std::unique_ptr<ReplicaChooser> chooser(new ReplicaChooser(loop, options, environment));
  NEPTUNE_ASSIGN_OR_RETURN(chooser->polling_,
                           PollingAgent::Open(
                               loop, environment.bind,
                               [self = chooser.get()](uint64_t cookie, const LoadReport& report) {
                                 self->HandleReport(cookie, report);
                               },
                               environment.network));
  return chooser;
}

std::optional<ReplicaChoice> ReplicaChooser::Choose(const ServiceName& service,
                                                    PartitionId partition,
                                                    const std::vector<Replica>& replicas,
                                                    const std::vector<NodeId>& tried,
                                                    TimePoint deadline) {
  const std::vector<size_t> candidates = Untried(replicas, tried);
  if (candidates.empty()) return std::nullopt;
  if (options_.oracle != nullptr) return ReplicaChoice{options_.oracle(replicas)};
  if (replicas.size() == 1) return ReplicaChoice{0};
  switch (options_.policy) {
    case BalancingPolicy::kRandom:
      break;
    case BalancingPolicy::kRoundRobin:
      return ReplicaChoice{candidates[round_++ % candidates.size()]};
    case BalancingPolicy::kBroadcast: {
      std::vector<uint32_t> loads;
      for (const size_t i : candidates) loads.push_back(replicas[i].announced_load_index());
      return ReplicaChoice{candidates[ChooseLeastLoaded(loads, loop_.random())]};
    }
    case BalancingPolicy::kPoll:
      return ReplicaChoice{ChooseByPoll(replicas, candidates, deadline)};
    case BalancingPolicy::kProbePool:
      Pool* const pool = FindPool(service, partition, replicas);
      if (pool != nullptr) return ChooseByPool(*pool, replicas, candidates);
  }
  return ReplicaChoice{candidates[loop_.random().Below(candidates.size())]};
}

size_t ReplicaChooser::ChooseByPoll(const std::vector<Replica>& replicas,
                                    const std::vector<size_t>& candidates, TimePoint deadline) {
  std::vector<size_t> eligible;
  for (const size_t i : candidates) {
    const auto missed = missed_polls_.find(replicas[i].node);
    const bool silent = missed != missed_polls_.end() && missed->second >= kMissedPollsMax;
    if (!silent || loop_.random().Below(kPollSilentOneIn) == 0) eligible.push_back(i);
  }
  if (eligible.empty()) return candidates[loop_.random().Below(candidates.size())];
  if (eligible.size() == 1) return eligible[0];
  // The view may change while the poll waits, so names are kept instead of references.
  std::vector<size_t> targets;
  std::vector<NodeId> nodes;
  std::vector<Endpoint> endpoints;
  for (const size_t i :
       ChoosePollTargets(eligible.size(), options_.polling.poll_size, loop_.random())) {
    targets.push_back(eligible[i]);
    nodes.push_back(replicas[eligible[i]].node);
    endpoints.push_back(replicas[eligible[i]].probe_endpoint);
  }
  const TimePoint discard = AddSaturated(loop_.Now(), options_.polling.discard_after);
  const PollOutcome outcome =
      polling_->Poll(endpoints, std::min(deadline, discard), options_.polling.stop_at_idle);
  if (outcome.timed_out && environment_.slow_polls != nullptr) environment_.slow_polls->Increment();
  if (!outcome.best) return targets[0];
  for (size_t i = 0; i < targets.size(); ++i) {
    if (outcome.answered[i]) {
      missed_polls_.erase(nodes[i]);
    } else if (environment_.doubt &&
               (outcome.refused[i] ||
                (outcome.timed_out && ++missed_polls_[nodes[i]] >= kMissedPollsMax))) {
      environment_.doubt(replicas[targets[i]].call_endpoint);
    }
  }
  return targets[*outcome.best];
}

ReplicaChooser::Pool* ReplicaChooser::FindPool(const ServiceName& service, PartitionId partition,
                                               const std::vector<Replica>& replicas) {
  const Key key(service, partition);
  auto found = pools_.find(key);
  if (found == pools_.end()) {
    if (pools_.size() >= kLoopPoolCountMax) return nullptr;
    found = pools_.emplace(key, std::make_unique<Pool>(options_.probing)).first;
    found->second->service = service;
    found->second->number = next_pool_++;
    pool_of_number_[found->second->number] = found->second.get();
  }
  found->second->SetReplicas(replicas);
  return found->second.get();
}

ReplicaChoice ReplicaChooser::ChooseByPool(Pool& pool, const std::vector<Replica>& replicas,
                                           const std::vector<size_t>& candidates) {
  const std::vector<size_t> excluded = Complement(candidates, replicas.size());
  const size_t chosen = pool.servers.Choose(loop_.Now(), excluded, loop_.random());
  for (const size_t server : pool.servers.ChooseProbes(loop_.random())) Probe(pool, server);
  if (pool.refresh == 0) KeepFresh(pool);
  return {chosen, pool.number, pool.servers.id(chosen)};
}

// Probes between calls that are far apart, so that the next one finds a recent report.
void ReplicaChooser::KeepFresh(Pool& pool) {
  const std::optional<Duration> pause = pool.servers.RefreshInterval(loop_.Now());
  pool.refresh = 0;
  if (!pause) return;
  pool.refresh = loop_.RunAt(AddSaturated(loop_.Now(), *pause), [this, &pool] {
    if (pool.servers.WantsRefresh(loop_.Now())) {
      for (const size_t server : pool.servers.ChooseProbes(loop_.random())) Probe(pool, server);
    }
    KeepFresh(pool);
  });
}

// A cookie identifies the pool and the server.
void ReplicaChooser::Probe(Pool& pool, size_t server) {
  const uint64_t cookie = uint64_t{pool.number} << 32 | pool.servers.id(server);
  polling_->Probe(pool.probe_endpoints[server], pool.service, cookie);
}

void ReplicaChooser::HandleReport(uint64_t cookie, const LoadReport& report) {
  const auto [pool, server] =
      Locate(static_cast<uint32_t>(cookie >> 32), static_cast<ProbePool::ServerId>(cookie));
  if (pool != nullptr) pool->servers.OnReport(server, report, loop_.Now());
}

std::pair<ReplicaChooser::Pool*, size_t> ReplicaChooser::Locate(uint32_t number,
                                                                ProbePool::ServerId id) const {
  const auto found = pool_of_number_.find(number);
  if (found == pool_of_number_.end()) return {nullptr, 0};
  const std::optional<size_t> server = found->second->servers.Find(id);
  if (!server) return {nullptr, 0};
  return {found->second, *server};
}

void ReplicaChooser::Answered(const ReplicaChoice& choice, uint32_t load_index, Duration run_time,
                              const Status& status) {
  const auto [pool, server] = Locate(choice.pool, choice.server);
  if (pool == nullptr) return;
  pool->servers.OnAnswer(server, load_index, run_time, Worked(status), loop_.Now());
}

void ReplicaChooser::Lost(const ReplicaChoice& choice, bool failed) {
  const auto [pool, server] = Locate(choice.pool, choice.server);
  if (pool != nullptr) pool->servers.OnLost(server, failed, loop_.Now());
}

void ReplicaChooser::SetView(const std::shared_ptr<const YellowPageView>& view) {
  std::erase_if(missed_polls_,
                [&](const auto& missed) { return view->Find(missed.first) == nullptr; });
  std::erase_if(pools_, [&](const auto& item) {
    const Pool& pool = *item.second;
    if (!view->Replicas(item.first.first, item.first.second).empty()) return false;
    if (pool.refresh != 0) loop_.CancelTimer(pool.refresh);
    pool_of_number_.erase(pool.number);
    return true;
  });
}

}  // namespace neptune
