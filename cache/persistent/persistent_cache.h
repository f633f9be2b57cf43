// The query cache "persistent" over one key-value store. Its entries live as long as the store.
//
// Source: persistent_entries.h.
// Threads: thread-safe; one lock, held during accesses to the store.
// Errors: those of the store. Limits and units are those of result_cache.h; the clock must continue
//   across restarts.

#pragma once

#include <memory>

#include "cache/persistent/persistent_entries.h"
#include "cache/result_cache.h"
#include "neptune/world/storage.h"

namespace search::cache {

inline constexpr char kPersistentCacheName[] = "persistent";

// Ignores shard_count and hash_seed.
std::unique_ptr<ResultCache> MakePersistentCache(std::unique_ptr<neptune::KeyValueStore> store,
                                                 const ResultCacheOptions& options);

}  // namespace search::cache
