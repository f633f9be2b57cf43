// The query cache "memory": values in this process's memory, S3-FIFO eviction, sharded by key.
//
// Source: s3_fifo.h. Errors, limits, units: as result_cache.h says.
// Threads: thread-safe; one LeafMutex a shard around leaf sections that copy no value.

#pragma once

#include <memory>

#include "cache/result_cache.h"
#include "neptune/base/status.h"

namespace search::cache {

inline constexpr char kMemoryCacheName[] = "memory";

// Errors: INVALID_ARGUMENT a shard_count out of range, or shards too small for one entry.
neptune::StatusOr<std::unique_ptr<ResultCache>> MakeMemoryCache(const ResultCacheOptions& options);

}  // namespace search::cache
