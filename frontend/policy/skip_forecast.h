// How often tier 2 need not be asked, learned from the decisions made so far: if that is rare, both
// tiers are asked at once, which costs nothing when both are needed and hides the longer of the two
// waits.
//
// Each decision is counted under the query's number of words, because the more words a query has,
// the looser the bound of tier 2 (tier_bound.h); queries without a bound count as those without
// words. Older decisions count less. A decision is known whether or not tier 2 was asked, so the
// forecast also learns while both are asked at once.
//
// No I/O, no clock.
// Threads: thread-safe.

#pragma once

#include <array>
#include <cstddef>

#include "neptune/base/leaf_mutex.h"

namespace search::frontend {

class SkipForecast {
 public:
  // Share of the queries with that many words for which tier 2 need not be asked, 0 to 1.
  double SkipShare(size_t word_count) const;
  void Record(size_t word_count, bool was_skippable);

 private:
  // The classes are by number of words; queries of more words share the last one.
  static constexpr size_t kClassCount = 7;
  // Decisions remembered; older ones fade. Larger: slower to follow a change of the index or of
  // what people ask, less noise.
  static constexpr double kMemory = 256;

  struct Class {
    // The forecast before the first decision: half of four imagined ones were skipped.
    double decisions = 4;
    double skips = 2;
  };

  static size_t ClassOf(size_t word_count);

  mutable neptune::LeafMutex mutex_;
  std::array<Class, kClassCount> classes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace search::frontend
