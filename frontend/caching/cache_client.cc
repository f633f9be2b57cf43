#include "frontend/caching/cache_client.h"

#include <algorithm>
#include <utility>

#include "cache/cache.pb.h"
#include "cache/cache_service.h"
#include "cache/result_cache.h"
#include "neptune/capsule/capsule_permit.h"
#include "neptune/replication/client/replica_session.h"
#include "neptune/replication/client/version_section.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {
namespace {

using neptune::AccessMode;
using neptune::CallOptions;
using neptune::CallReport;
using neptune::ClientSession;
using neptune::Data;
using neptune::Duration;
using neptune::MethodName;
using neptune::PartitionId;
using neptune::Status;
using neptune::TimePoint;

// A session for work that the caller's leaving or deadline does not end: a complete answer is of
// use to others.
ClientSession InBackground(const ClientSession& session) {
  ClientSession own(session.client());
  own.service_class = session.service_class;
  own.trace = session.trace;
  return own;
}

// No retries: a second attempt would take longer than a search without the cache.
CallOptions OneTry(Duration timeout) {
  CallOptions call;
  call.deadline = neptune::this_thread::Now() + timeout;
  call.attempts_max = 1;
  return call;
}

neptune::CalledMethod CacheMethod(uint32_t partition, const char* method, AccessMode access) {
  return {neptune::ServiceName(cache::kCacheService), PartitionId(partition), MethodName(method),
          access};
}

const std::vector<neptune::Replica>& ReplicasOf(const neptune::YellowPageView& view,
                                                uint32_t partition) {
  return view.Replicas(neptune::ServiceName(cache::kCacheService), PartitionId(partition));
}

// True if the cache service replicates entries itself. If that is not known yet, entries are
// inserted into every replica; only the primary accepts them.
bool IsReplicated(const neptune::YellowPageView& view, uint32_t partition) {
  const std::vector<neptune::Replica>& replicas = ReplicasOf(view, partition);
  return std::any_of(replicas.begin(), replicas.end(), [&](const neptune::Replica& replica) {
    const auto said = replica.announced->last();
    const auto section = said->sections.find(neptune::kVersionSection);
    return section != said->sections.end() &&
           neptune::FindVersion(section->second, neptune::ServiceName(cache::kCacheService),
                                PartitionId(partition))
               .has_value();
  });
}

// The largest number for longer durations, about an hour.
uint32_t MicrosOf(Duration duration) {
  const int64_t micros = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  return static_cast<uint32_t>(std::clamp<int64_t>(micros, 0, UINT32_MAX));
}

void CountInsertion(const PlanMetrics& metrics, const Status& status, const Data& data) {
  if (!status.ok()) {
    (neptune::SaysBypassed(status) ? metrics.insert_dropped : metrics.insert_failed)->Increment();
    return;
  }
  const auto response = data.As<cache::InsertResponse>();
  const bool stored = response.ok() && (*response)->stored();
  (stored ? metrics.insert_stored : metrics.insert_refused)->Increment();
}

}  // namespace

CacheClient::CacheClient(const SearchPlanOptions& options, const PlanMetrics& metrics)
    : shared_(std::make_shared<Shared>(options, metrics)) {}

bool CacheClient::CanHold(const CacheEntryName& entry) const {
  return shared_->options.cache_partitions > 0 && entry.key.size() <= cache::kKeySizeMax;
}

CacheReply CacheClient::Lookup(ClientSession& session, const CacheEntryName& entry,
                               TimePoint until) {
  using Outcome = CacheUse::Outcome;
  if (!CanHold(entry)) return {};
  const auto one_try = [&] {
    CallOptions call = OneTry(shared_->options.cache_timeout);
    call.deadline = std::min(*call.deadline, until);
    return call;
  };
  Asked first = AskReplica(session, entry, one_try());
  const Outcome outcome = first.reply.use.outcome;
  if (outcome == Outcome::kHit || outcome == Outcome::kBypassed) return std::move(first.reply);
  const auto view = session.client().View();
  const uint32_t partition = cache::PartitionOfKey(entry.key, shared_->options.cache_partitions);
  if (first.server.value().empty() || ReplicasOf(*view, partition).size() < 2) {
    return std::move(first.reply);
  }
  // The other replicas have the same entries, except for those inserted a moment ago.
  if (outcome == Outcome::kMiss && IsReplicated(*view, partition)) return std::move(first.reply);
  CallOptions another = one_try();
  another.except = {first.server};
  Asked second = AskReplica(session, entry, another);
  if (second.reply.use.outcome == Outcome::kHit && outcome == Outcome::kMiss && !entry.ages) {
    second.reply.lacking = first.server;
  }
  const bool second_says = second.reply.use.outcome == Outcome::kHit || outcome != Outcome::kMiss;
  return second_says ? std::move(second.reply) : std::move(first.reply);
}

CacheClient::Asked CacheClient::AskReplica(ClientSession& session, const CacheEntryName& entry,
                                           const CallOptions& call) const {
  const uint32_t partition = cache::PartitionOfKey(entry.key, shared_->options.cache_partitions);
  cache::LookupRequest request;
  request.set_key(entry.key);
  request.set_index_version(entry.index_version);
  Data data;
  CallReport report;
  const Status status =
      neptune::Call(session, CacheMethod(partition, cache::kLookupMethod, AccessMode::kRead),
                    Data::Of(std::move(request)), &data, call, &report);
  const auto response = status.ok() ? data.As<cache::LookupResponse>()
                                    : neptune::StatusOr<const cache::LookupResponse*>(status);
  Asked asked{.server = report.server};
  CacheReply& reply = asked.reply;
  if (!response.ok()) {
    reply.use.outcome =
        neptune::SaysBypassed(status) ? CacheUse::Outcome::kBypassed : CacheUse::Outcome::kFailed;
    return asked;
  }
  const cache::LookupResponse& found = **response;
  reply.use.outcome = found.found() ? CacheUse::Outcome::kHit : CacheUse::Outcome::kMiss;
  reply.use.age = std::chrono::milliseconds(found.age_ms());
  reply.use.implementation = found.implementation();
  reply.value = found.value();
  reply.cost = std::chrono::microseconds(found.cost_us());
  return asked;
}

void CacheClient::InsertLater(const ClientSession& session, const CacheEntryName& entry,
                              std::string value, Duration time_to_live) {
  if (!CanHold(entry)) return;
  Begin(session, {.entry = entry, .value = std::move(value), .time_to_live = time_to_live});
}

void CacheClient::Refill(const ClientSession& session, const CacheEntryName& entry,
                         const CacheReply& reply, Duration life) {
  CacheEntryName copied = entry;
  copied.cost = reply.cost;
  Begin(session, {.entry = std::move(copied),
                  .value = reply.value,
                  .time_to_live = life - reply.use.age,
                  .only = reply.lacking});
}

void CacheClient::Begin(const ClientSession& session, Insertion insertion) {
  if (insertion.time_to_live <= Duration(0)) return;
  if (shared_->insert_count.fetch_add(1) >= shared_->options.cache_insert_count_max) {
    --shared_->insert_count;
    shared_->metrics.insert_dropped->Increment();
    return;
  }
  const auto started = neptune::ThreadScheduler::Current()->Spawn(
      [shared = shared_, session = InBackground(session), insertion = std::move(insertion)] {
        Insert(*shared, session, insertion);
        --shared->insert_count;
      },
      "cache insert");
  if (started.ok()) return;
  --shared_->insert_count;
  shared_->metrics.insert_dropped->Increment();
}

// Inserts into the replicas sequentially: there are few, and no search waits for the insertion.
void CacheClient::Insert(Shared& shared, ClientSession session, const Insertion& insertion) {
  const auto view = session.client().View();
  const uint32_t partition =
      cache::PartitionOfKey(insertion.entry.key, shared.options.cache_partitions);
  cache::InsertRequest request;
  request.set_key(insertion.entry.key);
  request.set_index_version(insertion.entry.index_version);
  request.set_value(insertion.value);
  request.set_time_to_live_ms(static_cast<uint32_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(insertion.time_to_live).count()));
  request.set_cost_us(MicrosOf(insertion.entry.cost));
  const Data data = Data::Of(std::move(request));
  if (IsReplicated(*view, partition)) return InsertAtPrimary(shared, session, partition, data);
  if (insertion.only) return InsertAt(shared, session, partition, data, insertion.only);
  const std::vector<neptune::Replica>& replicas = ReplicasOf(*view, partition);
  if (replicas.empty()) return InsertAt(shared, session, partition, data, std::nullopt);
  for (const neptune::Replica& replica : replicas) {
    InsertAt(shared, session, partition, data, replica.node);
  }
}

void CacheClient::InsertAtPrimary(Shared& shared, const ClientSession& session, uint32_t partition,
                                  const Data& request) {
  neptune::ReplicaSession replicas(session);
  Data response;
  const Status status = replicas.Call(
      {neptune::ServiceName(cache::kCacheService), PartitionId(partition),
       MethodName(cache::kInsertMethod), AccessMode::kWrite},
      request, &response,
      {.deadline = neptune::this_thread::Now() + shared.options.cache_insert_timeout});
  CountInsertion(shared.metrics, status, response);
}

void CacheClient::InsertAt(Shared& shared, ClientSession& session, uint32_t partition,
                           const Data& request, const std::optional<neptune::NodeId>& node) {
  CallOptions call = OneTry(shared.options.cache_insert_timeout);
  call.only = node;
  Data response;
  const Status status =
      neptune::Call(session, CacheMethod(partition, cache::kInsertMethod, AccessMode::kWrite),
                    request, &response, call);
  CountInsertion(shared.metrics, status, response);
}

}  // namespace search::frontend
