// How many reloads of clients other than operators pass the caches ("Cache-Control: no-cache"): a
// reload costs a whole search however often its question was answered, so that a few clients could
// take the place of the many that the caches serve.
//
// Reloads beyond the budget are answered like other requests. The budget grows by a share of the
// searches that miss the query cache anyway, so that reloads add no more than that share to the
// load of the servers, and by one reload a second, so that a user of an idle service always gets
// his.
//
// No I/O, no clock.
// Threads: thread-safe; takes a lock for reloads only.
// Limits: kReloadBurst reloads at once.

#pragma once

#include <cstdint>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/time.h"

namespace search::frontend {

inline constexpr double kReloadBurst = 20;
inline constexpr double kReloadsPerSecond = 1;

class ReloadBudget {
 public:
  // `share_max`: reloads per search that misses the cache; 1 or more: no limit.
  explicit ReloadBudget(double share_max) : share_max_(share_max) {}

  // True if a reload may pass the caches; it is then taken from the budget. `miss_count`: searches
  // so far that missed the cache. REQUIRES: neither argument is much less than in earlier calls.
  bool Take(uint64_t miss_count, neptune::TimePoint now);

 private:
  const double share_max_;
  neptune::LeafMutex mutex_;
  double left_ ABSL_GUARDED_BY(mutex_) = kReloadBurst;
  uint64_t miss_count_ ABSL_GUARDED_BY(mutex_) = 0;
  neptune::TimePoint at_ ABSL_GUARDED_BY(mutex_){};
};

}  // namespace search::frontend
