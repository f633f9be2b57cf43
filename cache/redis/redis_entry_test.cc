#include "cache/redis/redis_entry.h"

#include <gtest/gtest.h>

#include <random>

namespace search::cache {
namespace {

const RedisEntry kEntry = {7, 1000, -3, 99, std::string("red\0green", 9)};

TEST(RedisEntryTest, GivesBackWhatWasEncoded) {
  const auto entry = DecodeRedisEntry(EncodeRedisEntry(kEntry));
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(entry->index_version, 7u);
  EXPECT_EQ(entry->inserted_ns, 1000);
  EXPECT_EQ(entry->time_to_live_ns, -3);
  EXPECT_EQ(entry->clock, 99u);
  EXPECT_EQ(entry->value, kEntry.value);
  EXPECT_EQ(EncodeRedisEntry(kEntry).size(), kRedisEntryOverhead + kEntry.value.size());
}

TEST(RedisEntryTest, TruncatedOrChangedEntryIsRefused) {
  const std::string bytes = EncodeRedisEntry(kEntry);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(DecodeRedisEntry(bytes.substr(0, size)).status().code(),
              neptune::StatusCode::kDataLoss);
  }
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string changed = bytes;
    changed[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_FALSE(DecodeRedisEntry(changed).ok()) << bit;
  }
}

TEST(RedisEntryTest, RandomBytesAreNoEntry) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    std::string bytes = i % 2 == 0 ? "NRC1" : "";
    for (size_t size = random() % 100; size > 0; --size) bytes += static_cast<char>(random());
    EXPECT_FALSE(DecodeRedisEntry(bytes).ok());
  }
}

}  // namespace
}  // namespace search::cache
