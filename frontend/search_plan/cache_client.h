// The query cache as the search plan uses it: asked briefly, fed in the background, and never a reason for an error.
// While it fails its dependency capsule (plan_capsules.h) has it passed by, but for a probe now and then.
//
//   insert ─► every replica of the key's partition
//   lookup ─► one replica ── miss, or no answer ──► another one ── hit ──► also inserted where it was missed
//
// So a replica that dies takes nothing with it, and one that comes back empty is filled by what is asked for. A miss costs
// a second lookup where there are replicas, a small part of the search that it may spare.
//
// Of a partition whose replicas agree by themselves (neptune/replication; nodes announce it):
//
//   insert ─► its primary, found again while there is time
//   lookup ─► any replica ── no answer ──► another one
//
// What was inserted a moment ago may be a miss there. Without a primary nothing is inserted, and what is there is still found.
//
// Threads: thread-safe; Lookup and InsertLater on user-level threads of the node.
// Errors: none; a cache that does not answer is a miss that says so.
// Limits: two lookups of SearchPlanOptions::cache_timeout each, cache_insert_count_max insertions under way,
//   cache::kKeySizeMax bytes a key (longer ones are bypassed).

#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/answer.h"
#include "frontend/search_plan/plan_metrics.h"
#include "frontend/search_plan/plan_options.h"
#include "neptune/service/client.h"

namespace search::frontend {

// A page of results and the index it comes from.
struct CacheEntryName {
  std::string key;
  uint64_t index_version = 0;
  // By its age it may be given or not (index_watch.h), so no replica gets a copy of another's, whose age would begin anew.
  bool ages = false;
};

struct CacheReply {
  CacheUse use;
  std::string value;  // kHit only
};

class CacheClient {
 public:
  CacheClient(const SearchPlanOptions& options, const PlanMetrics& metrics);

  CacheReply Lookup(neptune::ClientSession& session, const CacheEntryName& entry);

  // Starts a user-level thread that stores the value, unless too many do or the cache is left out.
  void InsertLater(const neptune::ClientSession& session, const CacheEntryName& entry,
                   std::string value);
  size_t insert_count() const { return shared_->insert_count.load(); }

 private:
  // What the threads that insert share with the client, which they may outlive.
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
    // Absent: all replicas.
    std::optional<neptune::NodeId> only = {};
  };
  struct Asked {
    CacheReply reply;
    neptune::NodeId server;  // empty if none was found
  };

  // A replica that is not `except`.
  Asked AskReplica(neptune::ClientSession& session, const CacheEntryName& entry,
                   const std::vector<neptune::NodeId>& except) const;
  void Begin(const neptune::ClientSession& session, Insertion insertion);
  static void Insert(Shared& shared, neptune::ClientSession session, const Insertion& insertion);
  // Absent: whichever is chosen.
  static void InsertAt(Shared& shared, neptune::ClientSession& session, uint32_t partition,
                       const neptune::Data& request, const std::optional<neptune::NodeId>& node);
  static void InsertAtPrimary(Shared& shared, const neptune::ClientSession& session,
                              uint32_t partition, const neptune::Data& request);
  bool CanHold(const CacheEntryName& entry) const;

  const std::shared_ptr<Shared> shared_;
};

}  // namespace search::frontend
