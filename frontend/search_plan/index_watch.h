// Which version of the index the cache is asked for, where documents change: one that is never much older than what
// searches find.
//
// The version of a live index names its epoch too, so an entry of before a change is a miss. A frontend learns the version
// from every complete answer. As long as all queries hit the cache it would learn nothing: so one of them passes the cache
// by when the newest answer is older than the interval.
//
// Source: design 5 (caches are invalidated by epoch). Layer: frontend/search_plan, policy. No I/O; time comes in.
// Threads: thread-safe.
// Errors: none.

#pragma once

#include <cstdint>
#include <optional>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/time.h"

namespace search::frontend {

// What tiers' answers say of the index.
struct IndexState {
  uint64_t version = 0;  // with the epoch in it
  bool is_live = false;
};
// The epoch is tier 1's, which every change reaches, so that queries agree that ask tier 2 and that do not; 0: the index
// does not change.
IndexState StateOf(uint64_t index_version, uint64_t tier1_epoch);

class IndexWatch {
 public:
  explicit IndexWatch(neptune::Duration interval) : interval_(interval) {}

  // What to ask the cache for; nullopt: this query is the one to ask the index instead. A version of 0 before the first
  // answer.
  std::optional<uint64_t> VersionAt(neptune::TimePoint now);
  // A complete answer was given.
  void Learn(const IndexState& state, neptune::TimePoint now);

 private:
  const neptune::Duration interval_;
  neptune::LeafMutex mutex_;
  IndexState state_ ABSL_GUARDED_BY(mutex_);
  // When the index was last heard, or last asked for that.
  neptune::TimePoint checked_at_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace search::frontend
