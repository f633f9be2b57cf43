// Byte format of a cached answer in a Redis string.
//
//   "NRC1" version:8 inserted_ns:8 time_to_live_ns:8 clock:8 value checksum:8   numbers big-endian
//
// The checksum covers all bytes before it, so that bytes that another program wrote under the same
// key are never taken for an answer. With a secret a code takes its place, which also covers the
// key, so that others who may write to the server cannot make entries, nor move one to another key:
//
//   "NRC2" version:8 inserted_ns:8 time_to_live_ns:8 clock:8 value code:16
//
// The code is the first 16 bytes of HMAC-SHA256 over "search cache entry 1", the size of the key in
// 8 bytes, the key, and the bytes before the code. Entries without one are then refused.
//
// Source: RFC 2104.
// Threads: pure functions.
// Errors: DATA_LOSS the bytes are not an entry, or have no code of any of the secrets.

#pragma once

#include <cstdint>
#include <span>
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
inline constexpr size_t kSealedRedisEntryOverhead = 4 + 4 * 8 + 16;

// How entries are protected; without secrets by the checksum.
struct RedisEntrySeal {
  std::string_view key;  // under which the entry is stored
  // Codes are made with the first, those of all are accepted.
  std::span<const std::string> secrets;
};

std::string EncodeRedisEntry(const RedisEntry& entry, const RedisEntrySeal& seal = {});
neptune::StatusOr<RedisEntry> DecodeRedisEntry(std::string_view bytes,
                                               const RedisEntrySeal& seal = {});

}  // namespace search::cache
