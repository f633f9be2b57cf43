#include "cache/redis/redis_entry.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

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

class SealedRedisEntryTest : public testing::Test {
 protected:
  static RedisEntrySeal Seal(const std::vector<std::string>& secrets,
                             std::string_view key = "search:0:v:apple") {
    return {.key = key, .secrets = secrets};
  }
  const std::vector<std::string> own_ = {std::string(32, 'o')};
  const std::vector<std::string> other_ = {std::string(32, 'x')};
  const std::vector<std::string> both_ = {std::string(32, 'x'), std::string(32, 'o')};
};

TEST_F(SealedRedisEntryTest, IsReadByThoseWhoHaveTheSecret) {
  const std::string bytes = EncodeRedisEntry(kEntry, Seal(own_));
  EXPECT_EQ(bytes.size(), kSealedRedisEntryOverhead + kEntry.value.size());
  const auto entry = DecodeRedisEntry(bytes, Seal(own_));
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(entry->value, kEntry.value);
  EXPECT_EQ(entry->clock, 99u);
  EXPECT_TRUE(DecodeRedisEntry(bytes, Seal(both_)).ok()) << "while the key is being changed";
  EXPECT_FALSE(DecodeRedisEntry(bytes, Seal(other_)).ok());
}

TEST_F(SealedRedisEntryTest, NeitherAnotherKeyNorAChecksumWillDo) {
  const std::string bytes = EncodeRedisEntry(kEntry, Seal(own_));
  EXPECT_FALSE(DecodeRedisEntry(bytes, Seal(own_, "search:0:v:pear")).ok());
  EXPECT_FALSE(DecodeRedisEntry(EncodeRedisEntry(kEntry), Seal(own_)).ok());
  EXPECT_FALSE(DecodeRedisEntry(bytes).ok());
}

TEST_F(SealedRedisEntryTest, EveryCutAndEveryChangedBitIsRefused) {
  const std::string bytes = EncodeRedisEntry(kEntry, Seal(own_));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeRedisEntry(bytes.substr(0, size), Seal(own_)).ok()) << size;
  }
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string changed = bytes;
    changed[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_FALSE(DecodeRedisEntry(changed, Seal(own_)).ok()) << bit;
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
