#include "neptune/balancing/probe_pool_policy.h"

#include <algorithm>

namespace neptune {
namespace {

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
struct ProbePoolPolicy::Pool {
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
  // Identifies the pool and the server; never 0.
  uint64_t RecordOf(size_t server) const { return uint64_t{number} << 32 | servers.id(server); }
};

ProbePoolPolicy::ProbePoolPolicy(Loop& loop, const ProbePoolOptions& options, PollingAgent& polling)
    : loop_(loop), options_(options), polling_(polling) {}

ProbePoolPolicy::~ProbePoolPolicy() {
  for (const auto& [key, pool] : pools_) {
    if (pool->refresh != 0) loop_.CancelTimer(pool->refresh);
  }
}

ReplicaChoice ProbePoolPolicy::Choose(const ReplicaQuestion& question) {
  Pool* const pool = FindPool(question);
  if (pool == nullptr) return RandomCandidate(question, loop_.random());
  const std::vector<size_t> excluded = Complement(question.candidates, question.replicas.size());
  ProbePool::Wishes wishes{.preferred = question.hints.preferred};
  if (question.local) wishes.local = {question.local->index, question.local->load_index};
  const size_t chosen = pool->servers.Choose(loop_.Now(), excluded, loop_.random(), wishes);
  for (const size_t server :
       pool->servers.ChooseProbes(loop_.random(), question.hints.call_share)) {
    Probe(*pool, server);
  }
  if (pool->refresh == 0) KeepFresh(*pool);
  return {chosen, pool->RecordOf(chosen)};
}

ProbePoolPolicy::Pool* ProbePoolPolicy::FindPool(const ReplicaQuestion& question) {
  const Key key(question.service, question.partition);
  auto found = pools_.find(key);
  if (found == pools_.end()) {
    if (pools_.size() >= kLoopPoolCountMax) return nullptr;
    found = pools_.emplace(key, std::make_unique<Pool>(options_)).first;
    found->second->service = question.service;
    found->second->number = next_pool_++;
    pool_of_number_[found->second->number] = found->second.get();
  }
  found->second->SetReplicas(question.replicas);
  return found->second.get();
}

// Probes between calls that are far apart, so that the next one finds a recent report.
void ProbePoolPolicy::KeepFresh(Pool& pool) {
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

void ProbePoolPolicy::Probe(Pool& pool, size_t server) {
  polling_.Probe(pool.probe_endpoints[server], pool.service, pool.RecordOf(server));
}

ProbePoolPolicy::Place ProbePoolPolicy::Locate(uint64_t record) const {
  const auto found = pool_of_number_.find(static_cast<uint32_t>(record >> 32));
  if (found == pool_of_number_.end()) return {};
  const std::optional<size_t> server =
      found->second->servers.Find(static_cast<ProbePool::ServerId>(record));
  return server ? Place{found->second, *server} : Place{};
}

void ProbePoolPolicy::OnReport(uint64_t cookie, const LoadReport& report) {
  const Place place = Locate(cookie);
  if (place.pool != nullptr) place.pool->servers.OnReport(place.server, report, loop_.Now());
}

void ProbePoolPolicy::Answered(uint64_t record, uint32_t load_index, Duration run_time,
                               const Status& status) {
  const Place place = Locate(record);
  if (place.pool == nullptr) return;
  place.pool->servers.OnAnswer(place.server, load_index, run_time, Worked(status), loop_.Now());
}

void ProbePoolPolicy::Lost(uint64_t record, bool failed) {
  const Place place = Locate(record);
  if (place.pool != nullptr) place.pool->servers.OnLost(place.server, failed, loop_.Now());
}

void ProbePoolPolicy::SetView(const YellowPageView& view) {
  std::erase_if(pools_, [&](const auto& item) {
    const Pool& pool = *item.second;
    if (!view.Replicas(item.first.first, item.first.second).empty()) return false;
    if (pool.refresh != 0) loop_.CancelTimer(pool.refresh);
    pool_of_number_.erase(pool.number);
    return true;
  });
}

}  // namespace neptune
