// Looks a question up in the query cache on a user-level thread of its own, while the search for it
// goes on. If the cache has the answer, what the search does meanwhile is ended.
//
// Threads: on a user-level thread; the lookup may outlive its search, but not `running_count`.
// Limits: those of CacheClient::Lookup.

#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

#include "frontend/caching/cache_client.h"
#include "neptune/base/metrics.h"
#include "neptune/service/cancellation.h"
#include "neptune/service/client.h"
#include "neptune/thread/synchronization.h"

namespace search::frontend {

class CacheLookup {
 public:
  struct Tools {
    CacheClient cache;
    neptune::HistogramMetric* time = nullptr;      // of each lookup
    std::atomic<size_t>* running_count = nullptr;  // lookups in progress
  };

  // `until`: as in CacheClient::Lookup. If no thread can be started, the cache has not answered.
  static std::shared_ptr<CacheLookup> Start(const Tools& tools,
                                            const neptune::ClientSession& session,
                                            const CacheEntryName& entry, neptune::TimePoint until);

  // A session for the search: its calls end with the client's, or once the cache has the answer.
  neptune::ClientSession SearchSession(const neptune::ClientSession& session) const {
    return session.EndedBy(search_.call());
  }
  // What the cache has said; nullopt: nothing yet.
  std::optional<CacheReply> Reply() const {
    return done_.is_set() ? std::optional(reply_) : std::nullopt;
  }
  bool is_hit() const { return done_.is_set() && reply_.use.outcome == CacheUse::Outcome::kHit; }

 private:
  explicit CacheLookup(const neptune::ClientSession& session) : search_(session.shared_caller()) {}

  neptune::Cancellation search_;
  CacheReply reply_;
  neptune::OneShotEvent done_;
};

}  // namespace search::frontend
