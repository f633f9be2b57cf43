// Client of the query cache for the search plan: short lookups, insertions in the background, and
// no errors for the caller. While the cache fails, its dependency capsule (plan_capsules.h)
// bypasses it except for occasional probes.
//
//   insert ─► every replica of the key's partition
//   lookup ─► one replica ── miss, or no answer ──► another one ── hit ──► Refill of the first
//
// A replica that dies therefore loses no entries, and one that restarts empty is refilled by
// lookups. With several replicas a miss costs a second lookup, a small fraction of the search it
// may save.
//
// A partition may replicate entries itself (neptune/replication; nodes announce it). For it:
//
//   insert ─► its primary, located again until the timeout if it changes
//   lookup ─► any replica ── no answer ──► another one
//
// There a lookup may miss an entry that was inserted a moment ago. While there is no primary
// nothing is inserted and existing entries are still found.
//
// Threads: thread-safe; Lookup and InsertLater on user-level threads of the node.
// Errors: none; a cache that does not answer counts as a miss with the outcome kFailed.
// Limits: two lookups of SearchPlanOptions::cache_timeout each, both within the time that the
// caller
//   allows; cache_insert_count_max insertions in progress, which go on when the caller is gone;
//   cache::kKeySizeMax bytes per key (longer keys bypass the cache).

#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/model/answer.h"
#include "frontend/policy/plan_metrics.h"
#include "frontend/policy/plan_options.h"
#include "neptune/service/client.h"

namespace search::frontend {

// Key of a page of results, with the version of the index it comes from.
struct CacheEntryName {
  std::string key;
  uint64_t index_version = 0;
  // The age of the entry decides whether it is valid (index_watch.h). Such an entry is not copied
  // between replicas, because the copy's age would restart at 0.
  bool ages = false;
  // Time that it took to make the page, for eviction policies of the cache; zero: unknown. Not part
  // of the name.
  neptune::Duration cost{0};
};

struct CacheReply {
  CacheUse use;
  std::string value;          // kHit only
  neptune::Duration cost{0};  // of the value; zero: unknown
  // kHit: a replica of the entry's partition that does not have it, and should.
  std::optional<neptune::NodeId> lacking = std::nullopt;
};

class CacheClient {
 public:
  CacheClient(const SearchPlanOptions& options, const PlanMetrics& metrics);

  // `until`: both lookups have ended by then.
  CacheReply Lookup(neptune::ClientSession& session, const CacheEntryName& entry,
                    neptune::TimePoint until = neptune::kNever);

  // Starts a user-level thread that stores the value, unless too many insertions are in progress or
  // there is no cache.
  void InsertLater(const neptune::ClientSession& session, const CacheEntryName& entry,
                   std::string value, neptune::Duration time_to_live);
  // The same for the replica that lacks an entry that another one has, for the rest of its life.
  // REQUIRES: reply.lacking.
  void Refill(const neptune::ClientSession& session, const CacheEntryName& entry,
              const CacheReply& reply, neptune::Duration life);
  size_t insert_count() const { return shared_->insert_count.load(); }
  // True if there is a cache, and it takes keys of this size.
  bool CanHold(const CacheEntryName& entry) const;

 private:
  // State shared with the inserting threads, which may outlive the client.
  struct Shared {
    Shared(const SearchPlanOptions& options, const PlanMetrics& metrics)
        : options(options), metrics(metrics) {}

    const SearchPlanOptions options;
    const PlanMetrics metrics;
    std::atomic<size_t> insert_count{0};
  };

  // A value on its way into the cache.
  struct Insertion {
    CacheEntryName entry;
    std::string value;
    neptune::Duration time_to_live{0};
    // The only replica to insert into; absent: all replicas.
    std::optional<neptune::NodeId> only = {};
  };
  struct Asked {
    CacheReply reply;
    neptune::NodeId server;  // empty if none was found
  };

  // Asks a replica, with the restrictions and the deadline of `call`.
  Asked AskReplica(neptune::ClientSession& session, const CacheEntryName& entry,
                   const neptune::CallOptions& call) const;
  void Begin(const neptune::ClientSession& session, Insertion insertion);
  static void Insert(Shared& shared, neptune::ClientSession session, const Insertion& insertion);
  // If the replica is absent, the call chooses one.
  static void InsertAt(Shared& shared, neptune::ClientSession& session, uint32_t partition,
                       const neptune::Data& request, const std::optional<neptune::NodeId>& node);
  static void InsertAtPrimary(Shared& shared, const neptune::ClientSession& session,
                              uint32_t partition, const neptune::Data& request);

  const std::shared_ptr<Shared> shared_;
};

}  // namespace search::frontend
