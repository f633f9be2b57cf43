// Byte format of a cached answer in a Redis string.
//
//   "NRC1" version:8 inserted_ns:8 time_to_live_ns:8 clock:8 value checksum:8   numbers big-endian
//
// The checksum covers all bytes before it, so that bytes that another program wrote under the same
// key are never taken for an answer.
//
// Threads: pure functions.
// Errors: DATA_LOSS the bytes are not an entry.

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
  uint64_t clock = 0;           // identifies the clock of the process that inserted it
  std::string value;
};

// Bytes of an entry in addition to its value.
inline constexpr size_t kRedisEntryOverhead = 4 + 5 * 8;

std::string EncodeRedisEntry(const RedisEntry& entry);
neptune::StatusOr<RedisEntry> DecodeRedisEntry(std::string_view bytes);

}  // namespace search::cache
