// Whether a search begins while the query cache is still looking its question up.
//
// If the cache has hardly any of such questions, a search that waits for it only loses that time.
// If it has the answer after all, what the servers have done by then is lost. So a search begins at
// once if at least miss_share_min of the latest questions with as many words were not in the cache,
// if no search waits to be admitted, and as long as searches that began in vain are at most
// waste_share_max of those that were computed.
//
// Questions with many words are rarely repeated, so misses are counted by number of words. Older
// lookups count less.
//
// No I/O, no clock.
// Threads: thread-safe.

#pragma once

#include <array>
#include <cstddef>

#include "neptune/base/leaf_mutex.h"

namespace search::frontend {

struct LookupOverlapOptions {
  double miss_share_min = 0.9;
  double waste_share_max = 0.05;
};

class LookupOverlap {
 public:
  explicit LookupOverlap(const LookupOverlapOptions& options) : options_(options) {}

  // True if the search begins at once; End must follow then. `is_busy`: searches wait to be
  // admitted.
  bool Begin(size_t word_count, bool is_busy);
  // What began at once has ended. `is_wasted`: the cache had the answer.
  void End(bool is_wasted);
  // The cache was asked for a question, whether or not the search began meanwhile.
  void Record(size_t word_count, bool is_hit);

 private:
  // Classes by number of words; questions of more words share the last one.
  static constexpr size_t kClassCount = 7;
  // Lookups remembered; older ones fade. Larger: less noise, slower to notice a cache that fills.
  static constexpr double kMemory = 256;
  // Most searches that may begin in vain at once, after a time without any.
  static constexpr double kAllowanceMax = 16;

  struct Class {
    // Before the first lookup: half of four imagined ones were misses.
    double lookups = 4;
    double misses = 2;
  };

  static size_t ClassOf(size_t word_count);

  const LookupOverlapOptions options_;
  mutable neptune::LeafMutex mutex_;
  std::array<Class, kClassCount> classes_ ABSL_GUARDED_BY(mutex_);
  // Searches that may still begin in vain: those that are under way are taken out.
  double allowance_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace search::frontend
