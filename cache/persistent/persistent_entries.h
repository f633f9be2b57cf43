// Entries of a cache in a partition's store, indexed by a hash of the query and evicted in
// insertion order. Two queries with the same hash replace each other. Keys of the store:
//
//   e HASH     PersistentEntry; HASH: XXH3-64 of the query, 8 bytes big-endian
//   o NUMBER   HASH; sorted by age
//   t          PersistentTotals
//
// Source: [Shen02] 5.3 (persistent cache: CacheUpdate, CacheLookup).
// Departs from source: an ordered key-value store instead of hash buckets of disk blocks.
// Threads: pure functions of the store.
// Units: sizes are bytes; times are nanoseconds of one clock shared by all inserts and lookups.
// Errors: kDataLoss the stored data is damaged; those of the store.
// Limits: PersistentLimits. Eviction is FIFO, because a lookup does not write.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cache/persistent/persistent_entries.pb.h"
#include "cache/result_cache.h"
#include "neptune/base/status.h"
#include "neptune/replication/state/store_state.h"

namespace search::cache {

// Bytes accounted per entry in addition to key and value: the keys of its records and other fields.
inline constexpr size_t kPersistentEntryOverhead = 96;

struct PersistentLimits {
  uint64_t size_max = 0;
  uint64_t value_size_max = 0;
};

enum class PersistentFind { kFound, kMissing, kExpired };

struct FoundEntry {
  PersistentFind outcome = PersistentFind::kMissing;
  PersistentEntry entry;  // set if found
};
neptune::StatusOr<FoundEntry> FindEntry(const neptune::StoreView& store, const CacheKey& key,
                                        int64_t now_ns);

struct InsertOutcome {
  bool stored = false;
  uint64_t evicted_count = 0;
};
// Assigns a number to the entry and stores it, replacing any other entry of its query. If it is
// refused, the query has no entry afterwards.
neptune::StatusOr<InsertOutcome> InsertEntry(const neptune::StoreView& store,
                                             const PersistentLimits& limits, PersistentEntry entry,
                                             neptune::StoreChanges& changes);

neptune::StatusOr<PersistentTotals> ReadTotals(const neptune::StoreView& store);
void ClearEntries(neptune::StoreChanges& changes);

}  // namespace search::cache
