// Which cached answers may be given where documents change: those that show the index as it is, or as it was a moment ago.
//
//   entry of the epoch that searches find now, settled  given, however old
//   entry of another epoch, younger than the interval   given
//   any other                                           a miss
//
// The epoch is another one after every change, and replicas of a partition are at different ones for a moment, so while
// writes go on hardly an entry is of the newest; a young one is what a search would have found when it was made. A frontend
// learns the epoch from every complete answer. As long as all queries hit the cache it would learn nothing: so one of them
// passes the cache by when the newest answer is older than the interval.
//
// The epoch is that of tier 1, which every change reaches, but tier 2 and lagging replicas come to it a moment later. So an
// answer of the first moment may show what was before: an epoch is settled, and an entry keeps it, once it has been known for
// the interval when the search begins.
//
// No I/O; time comes in.
// Threads: thread-safe.

#pragma once

#include <cstdint>
#include <optional>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/time.h"

namespace search::frontend {

// What tiers' answers say of the index.
struct IndexState {
  uint64_t version = 0;
  // Tier 1's, which every change reaches, so that queries agree that ask tier 2 and that do not; 0: the index does not
  // change.
  uint64_t epoch = 0;
};

class IndexWatch {
 public:
  explicit IndexWatch(neptune::Duration interval) : interval_(interval) {}

  // What is known, to ask the cache for that version; nullopt: this query is the one to ask the index instead. Zeros before
  // the first answer.
  std::optional<IndexState> KnownAt(neptune::TimePoint now);
  // The epoch that an entry keeps whose search began at `begin`; 0: it may be given only while it is young.
  uint64_t EpochToKeep(uint64_t epoch, neptune::TimePoint begin);
  // Whether an entry of that version, made at that epoch, may be given.
  bool MayGive(uint64_t entry_epoch, neptune::Duration age);
  // A complete answer was given.
  void Learn(const IndexState& state, neptune::TimePoint now);

 private:
  const neptune::Duration interval_;
  neptune::LeafMutex mutex_;
  IndexState state_ ABSL_GUARDED_BY(mutex_);
  // When the index was last heard, or last asked for that.
  neptune::TimePoint checked_at_ ABSL_GUARDED_BY(mutex_);
  // Since when nothing but this epoch was heard.
  neptune::TimePoint since_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace search::frontend
