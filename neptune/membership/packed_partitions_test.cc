#include "neptune/membership/packed_partitions.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "neptune/membership/announcement.h"

namespace neptune {
namespace {

std::vector<PartitionId> Numbers(uint32_t first, uint32_t count, uint32_t step = 1) {
  std::vector<PartitionId> partitions;
  for (uint32_t i = 0; i < count; ++i) partitions.emplace_back(first + i * step);
  return partitions;
}

StatusOr<std::vector<PartitionId>> Unpacked(std::string_view bytes) {
  ByteReader reader(bytes);
  auto partitions = UnpackPartitions(reader);
  if (partitions.ok() && !reader.finished()) return DataLoss("trailing bytes");
  return partitions;
}

TEST(PackedPartitionsTest, ARunTakesNineBytes) {
  const std::string packed = *PackPartitions(Numbers(0, 1000));
  EXPECT_EQ(packed, std::string("\0\1\0\0\0\0\0\x03\xe8", 9));
  EXPECT_EQ(*Unpacked(packed), Numbers(0, 1000));
}

TEST(PackedPartitionsTest, OthersAreABitmap) {
  const std::vector<PartitionId> partitions = {PartitionId(1), PartitionId(3), PartitionId(4)};
  const std::string packed = *PackPartitions(partitions);
  EXPECT_EQ(packed, std::string("\0\1\1\0\0\0\1\0\4\x0d", 10));
  EXPECT_EQ(*Unpacked(packed), partitions);
  EXPECT_LE(PackPartitions(Numbers(0, 500, 2))->size(), 134u);
}

TEST(PackedPartitionsTest, TheLastNumbersSurvive) {
  const std::vector<PartitionId> partitions = {PartitionId(UINT32_MAX - 1),
                                               PartitionId(UINT32_MAX)};
  EXPECT_EQ(*Unpacked(*PackPartitions(partitions)), partitions);
}

TEST(PackedPartitionsTest, AnySetSurvives) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    std::set<PartitionId> chosen;
    uint32_t number = static_cast<uint32_t>(random());
    for (uint64_t i = random() % 200; i > 0; --i) {
      number += static_cast<uint32_t>(random() % (1u << (random() % 20)));
      chosen.insert(PartitionId(number));
    }
    const std::vector<PartitionId> partitions(chosen.begin(), chosen.end());
    const auto packed = PackPartitions(partitions);
    ASSERT_TRUE(packed.has_value()) << "seed " << seed;
    EXPECT_EQ(*Unpacked(*packed), partitions) << "seed " << seed;
  }
}

TEST(PackedPartitionsTest, OtherFormsAreRefused) {
  EXPECT_FALSE(PackPartitions({PartitionId(2), PartitionId(1)}).has_value());
  EXPECT_FALSE(PackPartitions({PartitionId(1), PartitionId(1)}).has_value());
  EXPECT_FALSE(PackPartitions(Numbers(0, kPackedPartitionCountMax + 1)).has_value());
  // A run as a bitmap, two runs that touch, a bitmap with zeros at its end, a span past the end.
  EXPECT_FALSE(Unpacked(std::string("\0\1\1\0\0\0\0\0\2\3", 10)).ok());
  EXPECT_FALSE(Unpacked(std::string("\0\2\0\0\0\0\0\0\1\0\0\0\0\1\0\1", 16)).ok());
  EXPECT_FALSE(Unpacked(std::string("\0\1\1\0\0\0\0\0\4\5", 10)).ok());
  EXPECT_FALSE(Unpacked(std::string("\0\1\0\xff\xff\xff\xff\0\2", 9)).ok());
  EXPECT_FALSE(Unpacked(std::string("\0\1\0\0\0", 5)).ok());
}

TEST(PackedPartitionsTest, ANodeWithThousandsOfPartitionsIsAnnounced) {
  Announcement announcement;
  announcement.node = NodeId("n1");
  HostedService hosted{ServiceName("registers"), 1, "plain", Numbers(0, 4000)};
  hosted.partitions.erase(hosted.partitions.begin() + 7);
  announcement.services = {hosted};
  const StatusOr<std::string> bytes = EncodeAnnouncement(announcement);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(bytes->substr(0, 4), "NPA3");
  EXPECT_EQ(*DecodeAnnouncement(*bytes), announcement);
}

TEST(PackedPartitionsTest, WhatFitsIsAnnouncedInTheOlderForm) {
  Announcement announcement;
  announcement.node = NodeId("n1");
  announcement.services = {{ServiceName("registers"), 1, "plain", Numbers(0, 300)}};
  EXPECT_EQ(EncodeAnnouncement(announcement)->substr(0, 4), "NPA2");
}

}  // namespace
}  // namespace neptune
