// The query cache as the search plan uses it: asked briefly, fed in the background, and never a reason for an error.
// While it fails its dependency capsule (plan_capsules.h) has it passed by, but for a probe now and then.
//
// Source: design 5 (search plan). Layer: frontend/search_plan, agent.
// Threads: thread-safe; Lookup and InsertLater on user-level threads of the node.
// Errors: none; a cache that does not answer is a miss that says so.
// Limits: SearchPlanOptions::cache_timeout a lookup, cache_insert_count_max insertions under way,
//   cache::kKeySizeMax bytes a key (longer ones are bypassed).

#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "frontend/answer.h"
#include "frontend/search_plan/plan_metrics.h"
#include "frontend/search_plan/plan_options.h"
#include "neptune/service/client.h"

namespace search::frontend {

// A page of results and the index it comes from.
struct CacheEntryName {
  std::string key;
  uint64_t index_version = 0;
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

  static void Insert(Shared& shared, neptune::ClientSession session, const CacheEntryName& entry,
                     std::string value);
  bool CanHold(const CacheEntryName& entry) const;

  const std::shared_ptr<Shared> shared_;
};

}  // namespace search::frontend
