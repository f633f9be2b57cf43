// Names under which the query cache is called, and which partition keeps a key.
//
// Names and one pure function.
// Shapes: Lookup takes a LookupRequest and gives a LookupResponse; Insert takes an InsertRequest and
//   gives an InsertResponse.

#pragma once

#include <cstdint>
#include <string_view>

#include "neptune/base/checksum.h"

namespace search::cache {

inline constexpr char kCacheService[] = "cache";

// A read.
inline constexpr char kLookupMethod[] = "Lookup";
// A write: it changes what later lookups find, so it is never repeated or cut short.
inline constexpr char kInsertMethod[] = "Insert";

// REQUIRES: partition_count > 0.
inline uint32_t PartitionOfKey(std::string_view key, uint32_t partition_count) {
  return static_cast<uint32_t>(neptune::Checksum64(key) % partition_count);
}

}  // namespace search::cache
