// Answers of earlier queries, kept to be given again: what every query cache can do.
//
// No Neptune above base; time is an argument.
// Threads: thread-safe.
// Units: sizes are bytes; times are TimePoint of the caller's world.
// Errors: only of variants with I/O (UNAVAILABLE, DATA_LOSS); a caller treats any error as a miss.
// What
//   is refused for its size or for lack of room is no error.
// Limits: kKeySizeMax; ResultCacheOptions::value_size_max and size_max.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::cache {

inline constexpr size_t kKeySizeMax = 4096;

struct ResultCacheOptions {
  // Bytes of keys, values and bookkeeping held at most. Larger: more hits. Default: 64 MiB.
  size_t size_max = 64u << 20;

  // Bytes of the largest value taken. Larger: one odd answer may push out many others.
  // Default: 256 KiB, ten times a page of results.
  size_t value_size_max = 256u << 10;

  // Independently locked parts, each with an equal share of size_max. Larger: less waiting, but the
  // largest entry and the eviction order are those of one part. Default: 16. 1 to 1024.
  uint32_t shard_count = 16;

  // Seed of the hash that places keys, so that nobody outside can choose keys that collide.
  // Default: 0, for reproducible runs; services pass a random one.
  uint64_t hash_seed = 0;

  // HOST:PORT of the server of a variant that asks one. Default: Redis's own port on this machine.
  std::string server = "127.0.0.1:6379";

  // What its keys begin with there, 1 to 256 bytes. Caches with the same one share their entries and size_max.
  std::string key_prefix = "search";

  // For connecting to the server, and for each piece of an answer; 1 ms to 1 min. Larger: more patience with a busy
  // server, and longer waits for one that hangs. Default: 50 ms, where a search takes as long.
  neptune::Duration server_timeout = std::chrono::milliseconds(50);
};

// What is looked up: an entry of any other index_version is a miss.
struct CacheKey {
  std::string_view query;
  uint64_t index_version = 0;
};

struct CachedResult {
  std::shared_ptr<const std::string> value;
  neptune::Duration age{};
};

// What is stored under a key. A time_to_live of zero means until evicted or another version.
struct CacheValue {
  std::string value;
  neptune::Duration time_to_live{};
};

// Since construction, but bytes and entry_count, which are of now. Clear resets only those two.
struct ResultCacheStats {
  uint64_t hit_count = 0;
  uint64_t miss_count = 0;        // expired and wrong version included
  uint64_t insert_count = 0;      // stored
  uint64_t refused_count = 0;     // not stored
  uint64_t eviction_count = 0;    // pushed out for room
  uint64_t expiration_count = 0;  // found too old
  uint64_t size = 0;              // bytes accounted, never above size_max
  uint64_t entry_count = 0;
};

class ResultCache {
 public:
  virtual ~ResultCache() = default;

  // The value of that query and version, unless it is missing, expired at `now` or evicted.
  virtual neptune::StatusOr<std::optional<CachedResult>> Lookup(const CacheKey& key,
                                                                neptune::TimePoint now) = 0;

  // Stores a value in place of any other for the same query, whatever its version; the last insert
  // wins. False if it was refused: key or value over its limit, an empty query or a negative
  // time_to_live. After a refusal no older value of the query is found.
  virtual neptune::StatusOr<bool> Insert(const CacheKey& key, CacheValue value,
                                         neptune::TimePoint now) = 0;

  // Forgets every entry.
  virtual neptune::Status Clear() = 0;

  virtual ResultCacheStats Stats() const = 0;

  // Whether Lookup, Insert and Clear block the kernel thread for something outside of this process.
  virtual bool Waits() const { return false; }

  // The variant's name in cluster specs, for instance "memory".
  virtual std::string_view name() const = 0;
};

}  // namespace search::cache
