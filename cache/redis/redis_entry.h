// What a Redis string holds of one cached answer, in bytes.
//
//   "NRC1" version:8 inserted_ns:8 time_to_live_ns:8 clock:8 value checksum:8     numbers big-endian
//
// The checksum is of all before it, so that what another program wrote under the same key is never taken for an answer.
//
// Threads: pure functions.
// Errors: DATA_LOSS for bytes that are no entry.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/base/status.h"

namespace search::cache {

struct RedisEntry {
  uint64_t index_version = 0;
  int64_t inserted_ns = 0;      // by the clock below
  int64_t time_to_live_ns = 0;  // 0: until evicted
  uint64_t clock = 0;           // of the process that inserted it
  std::string value;
};

// Bytes of an entry beside its value.
inline constexpr size_t kRedisEntryOverhead = 4 + 5 * 8;

std::string EncodeRedisEntry(const RedisEntry& entry);
neptune::StatusOr<RedisEntry> DecodeRedisEntry(std::string_view bytes);

}  // namespace search::cache
