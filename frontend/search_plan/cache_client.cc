#include "frontend/search_plan/cache_client.h"

#include <utility>

#include "cache/cache.pb.h"
#include "cache/cache_service.h"
#include "cache/result_cache.h"
#include "neptune/capsule/capsule_visit.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {
namespace {

using neptune::AccessMode;
using neptune::CallOptions;
using neptune::ClientSession;
using neptune::Data;
using neptune::Duration;
using neptune::MethodName;
using neptune::PartitionId;
using neptune::Status;
using neptune::TimePoint;

// One try: another one would take longer than an answer without the cache.
Status CallCache(ClientSession& session, uint32_t partition, const char* method, AccessMode access,
                 const Data& request, Duration timeout, Data* response) {
  CallOptions call;
  call.deadline = neptune::this_thread::Now() + timeout;
  call.attempts_max = 1;
  return neptune::Call(session, neptune::ServiceName(cache::kCacheService), PartitionId(partition),
                       MethodName(method), access, request, response, call);
}

}  // namespace

CacheClient::CacheClient(const SearchPlanOptions& options, const PlanMetrics& metrics)
    : shared_(std::make_shared<Shared>(options, metrics)) {}

bool CacheClient::CanHold(const CacheEntryName& entry) const {
  return shared_->options.cache_partitions > 0 && entry.key.size() <= cache::kKeySizeMax;
}

CacheReply CacheClient::Lookup(ClientSession& session, const CacheEntryName& entry) {
  CacheReply reply;
  if (!CanHold(entry)) return reply;
  const uint32_t partition = cache::PartitionOfKey(entry.key, shared_->options.cache_partitions);
  cache::LookupRequest request;
  request.set_key(entry.key);
  request.set_index_version(entry.index_version);
  Data data;
  const Status status =
      CallCache(session, partition, cache::kLookupMethod, AccessMode::kRead,
                Data::Of(std::move(request)), shared_->options.cache_timeout, &data);
  const auto response = status.ok() ? data.As<cache::LookupResponse>()
                                    : neptune::StatusOr<const cache::LookupResponse*>(status);
  if (!response.ok()) {
    reply.use.outcome =
        neptune::SaysBypassed(status) ? CacheUse::Outcome::kBypassed : CacheUse::Outcome::kFailed;
    return reply;
  }
  const cache::LookupResponse& found = **response;
  reply.use.outcome = found.found() ? CacheUse::Outcome::kHit : CacheUse::Outcome::kMiss;
  reply.use.age = std::chrono::milliseconds(found.age_ms());
  reply.use.implementation = found.implementation();
  reply.value = found.value();
  return reply;
}

void CacheClient::InsertLater(const ClientSession& session, const CacheEntryName& entry,
                              std::string value) {
  if (!CanHold(entry)) return;
  if (shared_->insert_count.fetch_add(1) >= shared_->options.cache_insert_count_max) {
    --shared_->insert_count;
    shared_->metrics.insert_dropped->Increment();
    return;
  }
  const auto started = neptune::ThreadScheduler::Current()->Spawn(
      [shared = shared_, session, entry, value = std::move(value)]() mutable {
        Insert(*shared, session, entry, std::move(value));
        --shared->insert_count;
      },
      "cache insert");
  if (started.ok()) return;
  --shared_->insert_count;
  shared_->metrics.insert_dropped->Increment();
}

void CacheClient::Insert(Shared& shared, ClientSession session, const CacheEntryName& entry,
                         std::string value) {
  const uint32_t partition = cache::PartitionOfKey(entry.key, shared.options.cache_partitions);
  cache::InsertRequest request;
  request.set_key(entry.key);
  request.set_index_version(entry.index_version);
  request.set_value(std::move(value));
  request.set_time_to_live_ms(static_cast<uint32_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(shared.options.cache_time_to_live)
          .count()));
  Data data;
  const Status status =
      CallCache(session, partition, cache::kInsertMethod, AccessMode::kWrite,
                Data::Of(std::move(request)), shared.options.cache_insert_timeout, &data);
  if (!status.ok()) {
    (neptune::SaysBypassed(status) ? shared.metrics.insert_dropped : shared.metrics.insert_failed)
        ->Increment();
    return;
  }
  const auto response = data.As<cache::InsertResponse>();
  const bool stored = response.ok() && (*response)->stored();
  (stored ? shared.metrics.insert_stored : shared.metrics.insert_refused)->Increment();
}

}  // namespace search::frontend
