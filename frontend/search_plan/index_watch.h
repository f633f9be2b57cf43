// Decides which cached answers are valid while documents change: those that show the index as it
// is, or as it was at most an interval ago.
//
//   entry of the current, settled epoch                 valid at any age
//   entry of another epoch, younger than the interval   valid
//   any other                                           miss
//
// Every change advances the epoch, and replicas of a partition briefly have different epochs, so
// during writes hardly any entry is of the newest epoch; a young entry shows what a search would
// have found when the entry was made. A frontend learns the epoch from every complete answer. If
// all queries hit the cache it would learn nothing; therefore one query bypasses the cache whenever
// the newest answer is older than the interval.
//
// The epoch is that of tier 1, which every change reaches; tier 2 and lagging replicas follow a
// moment later. An answer computed right after a change may therefore show the old state. An epoch
// is settled, and recorded in entries, once it has been known for the interval before the search
// begins.
//
// Pages that a frontend repeats without looking at the cache (frontend/caching/page_cache.h) are
// held to the same rules by MayRepeat, which writes nothing: a page that needs a query past the
// cache first is left to that query.
//
// No I/O; the caller passes the time.
// Threads: thread-safe; MayRepeat is wait-free.

#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/time.h"

namespace search::frontend {

// State of the index as reported by the tiers' answers.
struct IndexState {
  uint64_t version = 0;
  // Epoch of tier 1, which every change reaches, so that queries with and without tier 2 agree; 0:
  // the index does not change.
  uint64_t epoch = 0;
};

class IndexWatch {
 public:
  explicit IndexWatch(neptune::Duration interval) : interval_(interval) {}

  // The known state, whose version to look up in the cache; nullopt: this query must bypass the
  // cache and ask the index. Zeros before the first answer.
  std::optional<IndexState> KnownAt(neptune::TimePoint now);
  // The epoch to record in an entry whose search began at `begin`; 0: the entry is valid only while
  // it is young.
  uint64_t EpochToKeep(uint64_t epoch, neptune::TimePoint begin);
  // True if an entry that recorded `entry_epoch` is valid.
  bool MayGive(uint64_t entry_epoch, neptune::Duration age);
  // True if an answer of that state, made `age` ago, may be given at `now` without any question to
  // cache or index: it is valid, and no query has to bypass the cache first.
  bool MayRepeat(const IndexState& of, neptune::Duration age, neptune::TimePoint now) const;
  // Records the index state of a complete answer.
  void Learn(const IndexState& state, neptune::TimePoint now);

 private:
  // Copies of the state for MayRepeat. A reader may see them from two states; an answer is then
  // valid only if it is of both, or young.
  void Show() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const neptune::Duration interval_;
  neptune::LeafMutex mutex_;
  IndexState state_ ABSL_GUARDED_BY(mutex_);
  // Time of the latest answer of the index, or of the latest query that bypassed the cache.
  neptune::TimePoint checked_at_ ABSL_GUARDED_BY(mutex_);
  // Time since which only the current epoch has been reported.
  neptune::TimePoint since_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint64_t> shown_version_{0};
  std::atomic<uint64_t> shown_epoch_{0};
  std::atomic<neptune::Duration::rep> shown_checked_at_{0};
};

}  // namespace search::frontend
