// Interface of query caches, which store answers of earlier queries.
//
// Depends on nothing of Neptune above base; the caller passes the time.
// Threads: thread-safe.
// Units: sizes are bytes; times are TimePoint of the caller's world.
// Errors: only from variants with I/O (UNAVAILABLE, DATA_LOSS); a caller treats any error as a
//   miss. A refusal because of size or lack of room is not an error.
// Limits: kKeySizeMax; ResultCacheOptions::value_size_max and size_max.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::cache {

inline constexpr size_t kKeySizeMax = 4096;

struct ResultCacheOptions {
  // Maximum bytes of keys, values and bookkeeping. Larger: more hits. Default: 64 MiB.
  size_t size_max = 64u << 20;

  // Bytes of the largest value accepted. Larger: one unusual answer may evict many others.
  // Default: 256 KiB, ten times a page of results.
  size_t value_size_max = 256u << 10;

  // Number of independently locked shards, each with an equal share of size_max. Larger: less lock
  // contention, but largest entry and eviction order are those of a smaller shard. Default: 16. 1
  // to 1024.
  uint32_t shard_count = 16;

  // Seed of the hash of keys; a secret seed keeps clients from choosing keys that collide.
  // Default: 0, for reproducible runs; services pass a random one.
  uint64_t hash_seed = 0;

  // Name of the eviction policy (cache/eviction/registry.h) of variants that hold entries in this
  // process. Default: chosen by measurement, see cache/README.md.
  std::string policy = "s3_fifo";

  // HOST:PORT of the server, for variants that use one. Default: the port of Redis on this machine.
  std::string server = "127.0.0.1:6379";

  // User and password that the server demands; without a user the password alone. Default: none.
  std::string server_user;
  std::string server_password;

  // Secrets for codes on what is kept on the server, so that others who may write there cannot
  // choose answers; codes are made with the first and accepted of all. Default: none, and a
  // checksum alone.
  std::vector<std::string> seal_secrets;

  // Prefix of the keys on the server, 1 to 256 bytes. Caches with the same prefix share their
  // entries and size_max.
  std::string key_prefix = "search";

  // Timeout for connecting to the server and for each part of a reply; 1 ms to 1 min. Larger: fewer
  // timeouts with a busy server, longer waits if it hangs. Default: 50 ms, about the duration of a
  // search.
  neptune::Duration server_timeout = std::chrono::milliseconds(50);
};

// Key of a lookup; an entry of any other index_version is a miss.
struct CacheKey {
  std::string_view query;
  uint64_t index_version = 0;
};

struct CachedResult {
  std::shared_ptr<const std::string> value;
  neptune::Duration age{};
  neptune::Duration cost{};  // as inserted, by variants that keep it; else zero
};

// Value stored under a key. A time_to_live of zero means until eviction or another version. The
// cost is the time that it takes to make the value again, for policies that prefer costly values;
// zero: unknown.
struct CacheValue {
  std::string value;
  neptune::Duration time_to_live{};
  neptune::Duration cost{};
};

// Counters since construction; size and entry_count are current values. Clear resets only these
// two.
struct ResultCacheStats {
  uint64_t hit_count = 0;
  uint64_t miss_count = 0;        // including expired entries and other versions
  uint64_t insert_count = 0;      // stored
  uint64_t refused_count = 0;     // not stored
  uint64_t eviction_count = 0;    // removed to make room
  uint64_t expiration_count = 0;  // removed because too old
  uint64_t size = 0;              // bytes accounted, never above size_max
  uint64_t entry_count = 0;
};

class ResultCache {
 public:
  virtual ~ResultCache() = default;

  // Returns the value of that query and version; nullopt if it is missing, evicted or expired at
  // `now`.
  virtual neptune::StatusOr<std::optional<CachedResult>> Lookup(const CacheKey& key,
                                                                neptune::TimePoint now) = 0;

  // Stores a value and replaces any other value of the same query, of whatever version; the last
  // insert wins. Returns false if it was refused: key or value over its limit, empty query,
  // negative time_to_live, or not worth the room by the eviction policy. After a refusal no older
  // value of the query is found.
  virtual neptune::StatusOr<bool> Insert(const CacheKey& key, CacheValue value,
                                         neptune::TimePoint now) = 0;

  // Removes all entries.
  virtual neptune::Status Clear() = 0;

  virtual ResultCacheStats Stats() const = 0;

  // True if Lookup, Insert and Clear may block the kernel thread on another process.
  virtual bool Waits() const { return false; }

  // The variant's name in cluster specs, for instance "memory".
  virtual std::string_view name() const = 0;
};

}  // namespace search::cache
