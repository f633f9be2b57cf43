// The query cache "memory": values in this process's memory, S3-FIFO eviction, sharded by key.
//
// Source: s3_fifo.h. Errors, limits and units are those of result_cache.h.
// Threads: thread-safe; each shard has a LeafMutex, and no value is copied while it is held.

#pragma once

#include <memory>

#include "cache/result_cache.h"
#include "neptune/base/status.h"

namespace search::cache {

inline constexpr char kMemoryCacheName[] = "memory";

// Errors: INVALID_ARGUMENT shard_count out of range, or shards too small for one entry.
neptune::StatusOr<std::unique_ptr<ResultCache>> MakeMemoryCache(const ResultCacheOptions& options);

}  // namespace search::cache
