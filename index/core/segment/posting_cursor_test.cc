#include "index/core/segment/posting_cursor.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "index/core/segment/segment_reader.h"
#include "index/core/segment/segment_writer.h"

namespace search::index {
namespace {

constexpr uint32_t kDocumentCount = 5000;

struct Posting {
  uint32_t ordinal = 0;
  std::array<std::vector<uint32_t>, kFieldCount> positions;
};

std::vector<uint32_t> RandomPositions(std::mt19937_64& rng) {
  std::vector<uint32_t> positions;
  uint32_t at = 0;
  for (uint64_t count = rng() % 8 == 0 ? 200 : rng() % 4; count > 0; --count) {
    at += rng() % 50;
    positions.push_back(at);
  }
  return positions;
}

std::vector<Posting> RandomPostings(size_t count, std::mt19937_64& rng) {
  std::vector<Posting> postings;
  for (uint32_t ordinal = 0; ordinal < kDocumentCount; ++ordinal) {
    if (rng() % (kDocumentCount - ordinal) >= count - postings.size()) continue;
    Posting& posting = postings.emplace_back();
    posting.ordinal = ordinal;
    posting.positions[1] = RandomPositions(rng);
    if (rng() % 4 == 0) posting.positions[0] = RandomPositions(rng);
    if (rng() % 4 == 0) posting.positions[2] = RandomPositions(rng);
  }
  return postings;
}

class PostingCursorTest : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    std::mt19937_64 rng(GetParam());
    postings_ = RandomPostings(GetParam(), rng);
    const std::string folder =
        testing::TempDir() + "/posting_cursor_test" + std::to_string(GetParam());
    std::filesystem::create_directories(folder);
    auto writer = SegmentWriter::Create(folder);
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (uint32_t i = 0; i < kDocumentCount; ++i) (*writer)->AddDocument(i, 0, {});
    for (const char* key : {"a", "b", "c"}) Write(writer->get(), key);
    ASSERT_TRUE((*writer)->Finish().ok());
    auto segment = Segment::Open(folder);
    ASSERT_TRUE(segment.ok()) << segment.status();
    segment_ = std::move(*segment);
  }

  void Write(SegmentWriter* writer, const char* key) {
    writer->BeginTerm(key);
    for (const Posting& posting : postings_) {
      std::array<uint32_t, kFieldCount> frequencies;
      std::vector<uint32_t> gaps;
      for (size_t f = 0; f < kFieldCount; ++f) {
        frequencies[f] = static_cast<uint32_t>(posting.positions[f].size());
        uint32_t last = 0;
        for (const uint32_t position : posting.positions[f]) {
          gaps.push_back(position - last);
          last = position;
        }
      }
      writer->AddPosting(posting.ordinal, frequencies, gaps);
    }
    writer->EndTerm();
  }

  PostingCursor Open(const char* key) const {
    const auto entry = segment_->terms().Find(key);
    EXPECT_TRUE(entry.ok() && entry->has_value());
    return PostingCursor(segment_->postings(), **entry, segment_->document_count());
  }

  static void ExpectAt(PostingCursor* cursor, const Posting& posting) {
    ASSERT_EQ(cursor->ordinal(), posting.ordinal);
    std::vector<uint32_t> positions;
    for (size_t f = kFieldCount; f-- > 0;) {
      const auto field = static_cast<Field>(f);
      ASSERT_EQ(cursor->frequency(field), posting.positions[f].size());
      cursor->DecodePositions(field, &positions);
      ASSERT_EQ(positions, posting.positions[f]);
    }
  }

  std::vector<Posting> postings_;
  std::unique_ptr<Segment> segment_;
};

TEST_P(PostingCursorTest, NextVisitsEveryPosting) {
  for (const char* key : {"a", "b", "c"}) {
    PostingCursor cursor = Open(key);
    for (const Posting& posting : postings_) {
      cursor.Next();
      ExpectAt(&cursor, posting);
      if (HasFatalFailure()) return;
    }
    EXPECT_EQ(cursor.Next(), kNoDocument);
    EXPECT_EQ(cursor.Next(), kNoDocument);
    EXPECT_FALSE(cursor.damaged());
  }
}

TEST_P(PostingCursorTest, SeekFindsTheFirstAtOrBehindTheTarget) {
  std::mt19937_64 rng(GetParam() + 1);
  for (int round = 0; round < 200; ++round) {
    PostingCursor cursor = Open("b");
    const uint32_t step = 1 + rng() % 800;
    for (uint32_t target = rng() % step; target < kDocumentCount; target += 1 + rng() % step) {
      const auto expected = std::lower_bound(
          postings_.begin(), postings_.end(), target,
          [](const Posting& posting, uint32_t ordinal) { return posting.ordinal < ordinal; });
      const uint32_t at = cursor.Seek(target);
      if (expected == postings_.end()) {
        ASSERT_EQ(at, kNoDocument);
      } else {
        ASSERT_EQ(at, expected->ordinal);
        if (rng() % 4 == 0) ExpectAt(&cursor, *expected);
      }
      ASSERT_EQ(cursor.Seek(0), at) << "never moves back";
    }
  }
}

TEST_P(PostingCursorTest, BlocksCoverTheList) {
  PostingCursor cursor = Open("c");
  size_t at = 0;
  for (uint32_t block = 0; block < cursor.block_count(); ++block) {
    EXPECT_EQ(cursor.FindBlock(postings_[at].ordinal, 0), block);
    ASSERT_TRUE(cursor.LoadBlock(block));
    for (const uint32_t ordinal : cursor.block_ordinals()) {
      ASSERT_EQ(ordinal, postings_[at++].ordinal);
    }
  }
  EXPECT_EQ(at, postings_.size());
}

TEST_P(PostingCursorTest, PositionsAreReadByNumberInAnyOrder) {
  std::mt19937_64 rng(GetParam() + 2);
  const auto entry = segment_->terms().Find("b");
  ASSERT_TRUE(entry.ok() && entry->has_value());
  PositionReader reader(segment_->postings(), **entry);
  for (int i = 0; i < 2000; ++i) {
    // Reads the same block again from time to time, so that it is unpacked.
    const size_t number = i % 3 == 0 ? rng() % postings_.size()
                                     : std::min(postings_.size() - 1, rng() % kPostingBlockSize);
    reader.Prefetch(static_cast<uint32_t>(number), i % 3);
    ASSERT_TRUE(reader.MoveTo(static_cast<uint32_t>(number)));
    for (size_t f = 0; f < kFieldCount; ++f) {
      const auto& expected = postings_[number].positions[f];
      ASSERT_EQ(reader.frequency(static_cast<Field>(f)), expected.size());
      const auto read = reader.Read(static_cast<Field>(f));
      ASSERT_TRUE(std::equal(read.begin(), read.end(), expected.begin(), expected.end()));
    }
  }
  EXPECT_FALSE(reader.MoveTo(static_cast<uint32_t>(postings_.size())));
  EXPECT_FALSE(reader.damaged());
}

INSTANTIATE_TEST_SUITE_P(Sizes, PostingCursorTest,
                         testing::Values(1, 2, 127, 128, 129, 255, 256, 257, 1000, 5000));

}  // namespace
}  // namespace search::index
