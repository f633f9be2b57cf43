#include "cache/redis/redis_entry.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"

namespace search::cache {
namespace {

constexpr std::string_view kMagic = "NRC1";
constexpr std::string_view kSealedMagic = "NRC2";
constexpr std::string_view kSealLabel = "search cache entry 1";
constexpr size_t kCodeSize = kSealedRedisEntryOverhead + sizeof(uint64_t) - kRedisEntryOverhead;

std::string CodeOf(std::string_view body, std::string_view key, std::string_view secret) {
  std::string covered(kSealLabel);
  neptune::ByteWriter writer(&covered);
  writer.Number(static_cast<uint64_t>(key.size()));
  writer.Bytes(key);
  writer.Bytes(body);
  std::array<unsigned char, EVP_MAX_MD_SIZE> code{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(covered.data()), covered.size(), code.data(), &size);
  return std::string(reinterpret_cast<const char*>(code.data()), kCodeSize);
}

bool HasCode(std::string_view body, std::string_view code, const RedisEntrySeal& seal) {
  return std::any_of(seal.secrets.begin(), seal.secrets.end(), [&](const std::string& secret) {
    return CRYPTO_memcmp(CodeOf(body, seal.key, secret).data(), code.data(), kCodeSize) == 0;
  });
}

// Returns the bytes before the checksum or the code, if that is right.
neptune::StatusOr<std::string_view> CheckedBody(std::string_view bytes,
                                                const RedisEntrySeal& seal) {
  const bool is_sealed = !seal.secrets.empty();
  if (bytes.size() < (is_sealed ? kSealedRedisEntryOverhead : kRedisEntryOverhead) ||
      !bytes.starts_with(is_sealed ? kSealedMagic : kMagic)) {
    return neptune::DataLoss("redis: the value of a cache key is not a cache entry",
                             is_sealed ? " with a code" : "");
  }
  const size_t end = bytes.size() - (is_sealed ? kCodeSize : sizeof(uint64_t));
  const std::string_view body = bytes.substr(0, end);
  if (is_sealed) {
    if (HasCode(body, bytes.substr(end), seal)) return body;
    return neptune::DataLoss("redis: a cache entry has the code of another cluster or key");
  }
  if (neptune::LoadBigEndian<uint64_t>(bytes.data() + end) == neptune::Checksum64(body)) {
    return body;
  }
  return neptune::DataLoss("redis: damaged cache entry");
}

}  // namespace

std::string EncodeRedisEntry(const RedisEntry& entry, const RedisEntrySeal& seal) {
  const bool is_sealed = !seal.secrets.empty();
  std::string bytes(is_sealed ? kSealedMagic : kMagic);
  bytes.reserve(kSealedRedisEntryOverhead + entry.value.size());
  neptune::ByteWriter writer(&bytes);
  writer.Number(entry.index_version);
  writer.Number(static_cast<uint64_t>(entry.inserted_ns));
  writer.Number(static_cast<uint64_t>(entry.time_to_live_ns));
  writer.Number(entry.clock);
  writer.Bytes(entry.value);
  if (is_sealed) {
    writer.Bytes(CodeOf(bytes, seal.key, seal.secrets.front()));
  } else {
    writer.Number(neptune::Checksum64(bytes));
  }
  return bytes;
}

neptune::StatusOr<RedisEntry> DecodeRedisEntry(std::string_view bytes, const RedisEntrySeal& seal) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string_view body, CheckedBody(bytes, seal));
  neptune::ByteReader reader(body.substr(kMagic.size()));
  RedisEntry entry;
  entry.index_version = reader.Number<uint64_t>();
  entry.inserted_ns = static_cast<int64_t>(reader.Number<uint64_t>());
  entry.time_to_live_ns = static_cast<int64_t>(reader.Number<uint64_t>());
  entry.clock = reader.Number<uint64_t>();
  entry.value = reader.Bytes(reader.remaining());
  return entry;
}

}  // namespace search::cache
