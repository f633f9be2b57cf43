#include "docserver/flat_file/format.h"

#include <gtest/gtest.h>

#include <string>

namespace search::docserver::flat_file {
namespace {

std::string SmallIndex() {
  std::string entries;
  for (uint64_t id : {3, 7, 1000}) AppendIndexEntry({id, 16 + id, 4, 5}, &entries);
  return EncodeIndex(entries, 99);
}

std::string SmallBlock() {
  Block block;
  block.raw_size = 10;
  block.record_count = 2;
  block.payload = "payload";
  return EncodeBlockHeader(block) + std::string(block.payload);
}

TEST(FlatFileFormatTest, FindsEntriesById) {
  const std::string bytes = SmallIndex();
  const auto index = IndexView::Open(bytes);
  ASSERT_TRUE(index);
  EXPECT_EQ(index->data_size(), 99u);
  EXPECT_EQ(index->entry_count(), 3u);
  ASSERT_TRUE(index->Find(7));
  EXPECT_EQ(index->Find(7)->block_offset, 23u);
  EXPECT_FALSE(index->Find(0));
  EXPECT_FALSE(index->Find(8));
  EXPECT_FALSE(index->Find(1001));
}

TEST(FlatFileFormatTest, RefusesAnIndexWithAnyBitFlippedOrByteCut) {
  const std::string bytes = SmallIndex();
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] ^= static_cast<char>(1 << (bit % 8));
    // Bytes 12 to 15 are reserved, and covered by the checksum all the same.
    EXPECT_FALSE(IndexView::Open(damaged)) << "bit " << bit;
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(IndexView::Open(std::string_view(bytes).substr(0, size))) << "size " << size;
  }
}

TEST(FlatFileFormatTest, RefusesABlockWithAnyBitFlippedOrByteCut) {
  const std::string bytes = SmallBlock();
  ASSERT_TRUE(DecodeBlock(bytes));
  EXPECT_EQ(DecodeBlock(bytes)->payload, "payload");
  EXPECT_EQ(DecodeBlock(bytes)->stored_size(), bytes.size());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] ^= static_cast<char>(1 << (bit % 8));
    EXPECT_FALSE(DecodeBlock(damaged)) << "bit " << bit;
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeBlock(std::string_view(bytes).substr(0, size))) << "size " << size;
  }
}

TEST(FlatFileFormatTest, ReadsHeadersWithAndWithoutADictionary) {
  for (const std::string_view dictionary : {"", "a dictionary"}) {
    const std::string bytes = EncodeDataHeader(dictionary);
    const auto header = DecodeDataHeader(bytes + "blocks");
    ASSERT_TRUE(header);
    EXPECT_EQ(header->dictionary, dictionary);
    EXPECT_EQ(header->size, bytes.size());
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string damaged = bytes;
      damaged[bit / 8] ^= static_cast<char>(1 << (bit % 8));
      EXPECT_FALSE(DecodeDataHeader(damaged)) << "bit " << bit;
    }
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(DecodeDataHeader(std::string_view(bytes).substr(0, size))) << "size " << size;
    }
  }
}

TEST(FlatFileFormatTest, ReadsTheHeaderOfVersionOne) {
  const auto header = DecodeDataHeader(std::string_view("NSDOCDAT\1\0\0\0\0\0\0\0blocks", 22));
  ASSERT_TRUE(header);
  EXPECT_EQ(header->dictionary, "");
  EXPECT_EQ(header->size, kDataHeaderSize);
  EXPECT_FALSE(DecodeDataHeader(std::string_view("NSDOCDAT\3\0\0\0\0\0\0\0blocks", 22)));
}

TEST(FlatFileFormatTest, RefusesABlockThatClaimsTooMuchMemory) {
  Block block;
  block.raw_size = kBlockRawSizeMax + 1;
  EXPECT_FALSE(DecodeBlock(EncodeBlockHeader(block)));
}

}  // namespace
}  // namespace search::docserver::flat_file
