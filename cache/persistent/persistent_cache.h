// The query cache "persistent" over one key-value store: outlives the process, or the host if the store does.
//
// Source: persistent_entries.h.
// Threads: thread-safe; one lock around all, held while the store works.
// Errors: those of the store. Limits, units: as result_cache.h says; the clock is to go on over restarts.

#pragma once

#include <memory>

#include "cache/persistent/persistent_entries.h"
#include "cache/result_cache.h"
#include "neptune/world/storage.h"

namespace search::cache {

inline constexpr char kPersistentCacheName[] = "persistent";

// shard_count and hash_seed mean nothing here.
std::unique_ptr<ResultCache> MakePersistentCache(std::unique_ptr<neptune::KeyValueStore> store,
                                                 const ResultCacheOptions& options);

}  // namespace search::cache
