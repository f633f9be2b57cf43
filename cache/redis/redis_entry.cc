#include "cache/redis/redis_entry.h"

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"

namespace search::cache {
namespace {

constexpr std::string_view kMagic = "NRC1";

}  // namespace

std::string EncodeRedisEntry(const RedisEntry& entry) {
  std::string bytes(kMagic);
  bytes.reserve(kRedisEntryOverhead + entry.value.size());
  neptune::ByteWriter writer(&bytes);
  writer.Number(entry.index_version);
  writer.Number(static_cast<uint64_t>(entry.inserted_ns));
  writer.Number(static_cast<uint64_t>(entry.time_to_live_ns));
  writer.Number(entry.clock);
  writer.Bytes(entry.value);
  writer.Number(neptune::Checksum64(bytes));
  return bytes;
}

neptune::StatusOr<RedisEntry> DecodeRedisEntry(std::string_view bytes) {
  if (bytes.size() < kRedisEntryOverhead || !bytes.starts_with(kMagic)) {
    return neptune::DataLoss("redis: the value of a cache key is not a cache entry");
  }
  const std::string_view body = bytes.substr(0, bytes.size() - sizeof(uint64_t));
  if (neptune::LoadBigEndian<uint64_t>(body.data() + body.size()) != neptune::Checksum64(body)) {
    return neptune::DataLoss("redis: damaged cache entry");
  }
  neptune::ByteReader reader(body.substr(kMagic.size()));
  RedisEntry entry;
  entry.index_version = reader.Number<uint64_t>();
  entry.inserted_ns = static_cast<int64_t>(reader.Number<uint64_t>());
  entry.time_to_live_ns = static_cast<int64_t>(reader.Number<uint64_t>());
  entry.clock = reader.Number<uint64_t>();
  entry.value = body.substr(kRedisEntryOverhead - sizeof(uint64_t));
  return entry;
}

}  // namespace search::cache
