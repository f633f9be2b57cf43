// The query cache "redis": entries are stored in a Redis server, accessed with hiredis.
//
// Replicas and restarted processes with the same key_prefix share their entries. Every insert is
// one script, which Redis runs atomically: it stores the entry, updates the sums of sizes and
// evicts the least recently used entries beyond size_max. Redis removes expired entries itself;
// their share of size_max is released only when they reach the end of the LRU order. The age of an
// entry of this process is measured by the caller's clock, that of another process by Redis's
// clock.
//
// Keys, where P is the key_prefix:
//   P:v:QUERY  entry (redis_entry.h), with a time to live
//   P:order    sorted set of queries by the number of the newest insert at their last use
//   P:sizes    hash from query to bytes
//   P:sums     hash with the fields total and number
//
// Threads: thread-safe; Waits() is true: calls block the kernel thread on the server, for at most
//   about ResultCacheOptions::server_timeout per part of a reply.
// Errors: UNAVAILABLE Redis does not answer or refuses, for instance because its memory is full;
//   DATA_LOSS the bytes under a key are not an entry, or one that another cluster has made.
// Limits: an entry counts as its value, three times its query and kRedisEntrySize. The maxmemory of
//   Redis must be above the sum of size_max of all its caches, with a maxmemory-policy that does
//   not evict keys without a time to live (noeviction or volatile-*): with allkeys-* the sums may
//   be lost, and with them the size bound, but never the correctness of values. Redis Cluster is
//   not supported: one script uses several keys.

#pragma once

#include <memory>

#include "cache/result_cache.h"
#include "neptune/base/status.h"

namespace search::cache {

inline constexpr char kRedisCacheName[] = "redis";
// Memory overhead of an entry in Redis 7.0: 334 bytes measured, plus a short key_prefix.
inline constexpr size_t kRedisEntrySize = 352;

// Does not connect yet, so that the node can start while Redis is down.
// Errors: INVALID_ARGUMENT options out of range.
neptune::StatusOr<std::unique_ptr<ResultCache>> MakeRedisCache(const ResultCacheOptions& options);

}  // namespace search::cache
