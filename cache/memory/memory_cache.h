// The query cache "memory": values in this process's memory, sharded by key, each shard with an
// eviction policy of its own (cache/eviction).
//
// Errors, limits and units are those of result_cache.h.
// Threads: thread-safe; each shard has a LeafMutex, and no value is copied while it is held.

#pragma once

#include <memory>

#include "cache/result_cache.h"
#include "neptune/base/status.h"

namespace search::cache {

inline constexpr char kMemoryCacheName[] = "memory";

// Errors: INVALID_ARGUMENT shard_count out of range, shards too small for one entry, or a policy
// that does not exist.
neptune::StatusOr<std::unique_ptr<ResultCache>> MakeMemoryCache(const ResultCacheOptions& options);

}  // namespace search::cache
