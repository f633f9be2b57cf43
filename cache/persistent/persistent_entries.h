// A cache's entries in a partition's store: found by a hash of the query, evicted in the order in which they were inserted.
//
//   e HASH     PersistentEntry; HASH: XXH3-64 of the query, 8 bytes big-endian. Two queries of one hash displace each other.
//   o NUMBER   HASH; by age
//   t          PersistentTotals
//
// Source: [Shen02] 5.3 (persistent cache: CacheUpdate, CacheLookup).
// Departs from source: entries of an ordered store in place of hash buckets of disk blocks.
// Threads: pure functions of the store.
// Units: sizes are bytes; times nanoseconds of one clock that all inserts and lookups share.
// Errors: kDataLoss what is kept is damaged; those of the store.
// Limits: PersistentLimits. Eviction is first in, first out: a lookup does not write.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cache/persistent/persistent_entries.pb.h"
#include "cache/result_cache.h"
#include "neptune/base/status.h"
#include "neptune/replication/store_state.h"

namespace search::cache {

// Bytes that an entry counts beside its key and value: its records' keys and the other fields.
inline constexpr size_t kPersistentEntryOverhead = 96;

struct PersistentLimits {
  uint64_t size_max = 0;
  uint64_t value_size_max = 0;
};

enum class PersistentFind { kFound, kMissing, kExpired };

struct FoundEntry {
  PersistentFind outcome = PersistentFind::kMissing;
  PersistentEntry entry;  // if it was found
};
neptune::StatusOr<FoundEntry> FindEntry(const neptune::StoreView& store, const CacheKey& key,
                                        int64_t now_ns);

struct InsertOutcome {
  bool stored = false;
  uint64_t evicted_count = 0;
};
// Stores the entry, whose number is given here, in place of any other of its query. If it is refused, nothing of its query
// remains.
neptune::StatusOr<InsertOutcome> InsertEntry(const neptune::StoreView& store,
                                             const PersistentLimits& limits, PersistentEntry entry,
                                             neptune::StoreChanges& changes);

neptune::StatusOr<PersistentTotals> ReadTotals(const neptune::StoreView& store);
void ClearEntries(neptune::StoreChanges& changes);

}  // namespace search::cache
