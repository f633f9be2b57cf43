#include "neptune/base/checksum.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace neptune {
namespace {

TEST(ChecksumTest, IsTheStandardXxh3) {
  EXPECT_EQ(Checksum64(""), 0x2d06800538d394c2u);
  EXPECT_EQ(Checksum32(""), 0x38d394c2u);
}

TEST(ChecksumTest, EveryFlippedBitChangesIt) {
  for (const size_t size : {1, 16, 17, 200, 300}) {
    std::string bytes(size, 'a');
    std::set<uint64_t> wide = {Checksum64(bytes)};
    std::set<uint32_t> narrow = {Checksum32(bytes)};
    for (size_t bit = 0; bit < size * 8; ++bit) {
      bytes[bit / 8] ^= 1 << bit % 8;
      EXPECT_TRUE(wide.insert(Checksum64(bytes)).second);
      EXPECT_TRUE(narrow.insert(Checksum32(bytes)).second);
      bytes[bit / 8] ^= 1 << bit % 8;
    }
  }
}

TEST(ChecksumTest, PiecesHaveTheChecksumOfTheWhole) {
  std::string bytes;
  for (int i = 0; i < 3000; ++i) bytes += static_cast<char>(i * 31 % 251);
  for (const size_t piece : {1, 7, 256, 5000}) {
    for (const uint64_t seed : {uint64_t{0}, uint64_t{42}}) {
      RunningChecksum64 running(seed);
      for (size_t at = 0; at < bytes.size(); at += piece) {
        running.Add(std::string_view(bytes).substr(at, piece));
      }
      EXPECT_EQ(running.value(), Checksum64(bytes, seed)) << piece;
    }
  }
  EXPECT_EQ(RunningChecksum64(0).value(), Checksum64(""));
}

TEST(ChecksumTest, SeedOrdersTheParts) {
  EXPECT_NE(Checksum64("b", Checksum64("a")), Checksum64("a", Checksum64("b")));
}

}  // namespace
}  // namespace neptune
