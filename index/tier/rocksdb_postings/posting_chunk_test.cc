#include "index/tier/rocksdb_postings/posting_chunk.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

namespace search::index::rocksdb_postings {
namespace {

std::map<uint32_t, FieldPositions> RandomPostings(std::mt19937_64& random) {
  std::map<uint32_t, FieldPositions> postings;
  const size_t count = random() % 50;
  for (size_t i = 0; i < count; ++i) {
    FieldPositions& fields = postings[static_cast<uint32_t>(random() >> (32 + random() % 32))];
    for (std::vector<uint32_t>& field : fields) {
      std::set<uint32_t> positions;
      for (size_t j = random() % 5; j > 0; --j) positions.insert(random() % kFieldTokensMax);
      field.assign(positions.begin(), positions.end());
    }
  }
  return postings;
}

std::string Encode(const std::map<uint32_t, FieldPositions>& postings) {
  PostingChunkWriter writer;
  for (const auto& [ordinal, positions] : postings) writer.Add(ordinal, positions);
  EXPECT_EQ(writer.posting_count(), postings.size());
  return writer.bytes();
}

TEST(PostingChunkTest, GivesBackWhatWasAdded) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    const auto postings = RandomPostings(random);
    const std::string bytes = Encode(postings);
    PostingChunkReader reader(bytes);
    Posting posting;
    for (const auto& [ordinal, expected] : postings) {
      ASSERT_TRUE(reader.Next(&posting)) << "seed " << seed;
      EXPECT_EQ(posting.ordinal, ordinal);
      for (size_t field = 0; field < kFieldCount; ++field) {
        std::vector<uint32_t> positions;
        ASSERT_TRUE(DecodePositions(posting, static_cast<Field>(field), &positions));
        EXPECT_EQ(positions, expected[field]);
      }
    }
    EXPECT_FALSE(reader.Next(&posting));
    EXPECT_FALSE(reader.damaged());
  }
}

TEST(PostingChunkTest, EncodesTheExampleOfTheReadme) {
  EXPECT_EQ(Encode({{7, {{{}, {2, 5}, {}}}}}), std::string("\x07\x00\x02\x00\x02\x02\x03", 7));
}

// For arbitrary bytes, reading ends, and ordinals and positions stay in order and in range.
TEST(PostingChunkTest, ReadsAnyBytesWithoutHarm) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = Encode(RandomPostings(random));
    if (bytes.empty()) continue;
    if (round % 2 == 0) bytes.resize(random() % bytes.size());
    for (char& byte : bytes) {
      if (random() % 16 == 0) byte = static_cast<char>(random());
    }
    PostingChunkReader reader(bytes);
    Posting posting;
    int64_t last = -1;
    size_t count = 0;
    while (reader.Next(&posting)) {
      ASSERT_GT(int64_t{posting.ordinal}, last);
      last = posting.ordinal;
      ASSERT_LE(++count, bytes.size());
      std::vector<uint32_t> positions;
      if (!DecodePositions(posting, Field::kExtra, &positions)) continue;
      for (const uint32_t position : positions) ASSERT_LE(position, kFieldTokensMax);
    }
  }
}

}  // namespace
}  // namespace search::index::rocksdb_postings
