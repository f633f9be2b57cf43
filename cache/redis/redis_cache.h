// The query cache "redis": entries in a Redis server, asked with hiredis.
//
// Replicas and restarted processes that give the same key_prefix share what is there. Every insert is one script, which
// Redis runs by itself between other commands: it stores the entry, adds up sizes and pushes out those beyond size_max
// that were not inserted or found for longest. Redis lets go what has outlived its time by itself; its share of size_max is free when its turn to be
// pushed out comes. An entry of this process ages by the caller's clock, one of another process by Redis's.
//
// Keys, P being the key_prefix:
//   P:v:QUERY  entry (redis_entry.h), with a time to live
//   P:order    sorted set of queries by number of insert when last used    P:sizes  hash, bytes by query    P:sums  hash: total, number
//
// Threads: thread-safe; Waits(): calls block the kernel thread for a server, at most about ResultCacheOptions::
//   server_timeout for each piece of an answer.
// Errors: UNAVAILABLE Redis does not answer or says no, for instance because its memory is full; DATA_LOSS what stands
//   under a key is no entry.
// Limits: an entry counts as its value, three times its query and kRedisEntrySize. Redis's own maxmemory has to be above
//   size_max of all its caches, with a maxmemory-policy that leaves keys without a time to live alone (noeviction or
//   volatile-*): under allkeys-* the sums may be lost, and with them the bound, but no wrong value is given.
//   No Redis Cluster: one script uses several keys.

#pragma once

#include <memory>

#include "cache/result_cache.h"
#include "neptune/base/status.h"

namespace search::cache {

inline constexpr char kRedisCacheName[] = "redis";
// What an entry costs Redis 7.0 beside its bytes: 334 measured, and a short key_prefix.
inline constexpr size_t kRedisEntrySize = 352;

// Does not connect yet: the node starts although Redis does not run.
// Errors: INVALID_ARGUMENT options out of range.
neptune::StatusOr<std::unique_ptr<ResultCache>> MakeRedisCache(const ResultCacheOptions& options);

}  // namespace search::cache
