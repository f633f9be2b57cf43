// Method names of the query cache service, and the mapping of keys to partitions.
//
// Shapes: Lookup takes a LookupRequest and returns a LookupResponse; Insert takes an InsertRequest
//   and returns an InsertResponse.

#pragma once

#include <cstdint>
#include <string_view>

#include "neptune/base/checksum.h"

namespace search::cache {

inline constexpr char kCacheService[] = "cache";

// A read.
inline constexpr char kLookupMethod[] = "Lookup";
// A write: it affects later lookups, so it is never retried or ended early.
inline constexpr char kInsertMethod[] = "Insert";

// REQUIRES: partition_count > 0.
inline uint32_t PartitionOfKey(std::string_view key, uint32_t partition_count) {
  return static_cast<uint32_t>(neptune::Checksum64(key) % partition_count);
}

}  // namespace search::cache
