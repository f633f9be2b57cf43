#include "index/core/builder/segment_reorderer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <tuple>

#include "index/core/builder/index_builder.h"
#include "index/core/builder/segment_merger.h"
#include "index/core/segment/posting_cursor.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

std::string FileBytes(const std::string& folder) {
  std::ifstream in(folder + "/segment", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

SegmentSummary Build(const std::vector<TestDocument>& documents,
                     const IndexBuilderOptions& options) {
  auto builder = IndexBuilder::Create(options);
  EXPECT_TRUE(builder.ok()) << builder.status();
  for (const TestDocument& document : documents) {
    EXPECT_TRUE((*builder)->Add(document.View()).ok());
  }
  const auto summary = (*builder)->Finish();
  EXPECT_TRUE(summary.ok()) << summary.status();
  return *summary;
}

// Positions by term, document and field.
using Contents = std::map<std::tuple<std::string, uint64_t, size_t>, std::vector<uint32_t>>;

Contents ContentsOf(const Segment& segment) {
  Contents contents;
  TermCursor terms(segment.terms());
  while (terms.Next()) {
    PostingCursor cursor(segment.postings(), terms.entry(), segment.document_count());
    while (cursor.Next() != kNoDocument) {
      for (size_t field = 0; field < kFieldCount; ++field) {
        cursor.DecodePositions(
            static_cast<Field>(field),
            &contents[{std::string(terms.key()), segment.doc_ids()[cursor.ordinal()], field}]);
      }
    }
  }
  return contents;
}

class SegmentReordererTest : public testing::Test {
 protected:
  void SetUp() override {
    Build(documents_, {.directory = given_});
    Build(documents_, {.directory = reordered_, .reorder = true});
  }

  TemporaryFolder folder_;
  const std::string given_ = folder_.path() + "/given";
  const std::string reordered_ = folder_.path() + "/reordered";
  const std::vector<TestDocument> documents_ = ZipfDocuments(700, 11);
};

TEST_F(SegmentReordererTest, OnlyOrdinalsChange) {
  const auto given = *Segment::Open(given_);
  const auto reordered = *Segment::Open(reordered_);
  EXPECT_FALSE(given->is_reordered());
  EXPECT_TRUE(reordered->is_reordered());
  EXPECT_EQ(ContentsOf(*reordered), ContentsOf(*given));
  EXPECT_EQ(reordered->totals().length_sums, given->totals().length_sums);
  for (uint32_t ordinal = 0; ordinal < given->document_count(); ++ordinal) {
    const uint64_t doc_id = given->doc_ids()[ordinal];
    const auto found = reordered->FindDocument(doc_id);
    ASSERT_TRUE(found.has_value()) << doc_id;
    EXPECT_EQ(reordered->doc_ids()[*found], doc_id);
    EXPECT_EQ(reordered->doc_id_in_order(ordinal), doc_id);
    EXPECT_EQ(reordered->length_codes()[*found], given->length_codes()[ordinal]);
    EXPECT_EQ(reordered->static_ranks()[*found], given->static_ranks()[ordinal]);
    EXPECT_FALSE(reordered->FindDocument(doc_id + 1) == found);
  }
}

TEST_F(SegmentReordererTest, ThreadsDoNotChangeAByte) {
  const std::string other = folder_.path() + "/other";
  Build(documents_, {.directory = other, .reorder = true, .thread_count = 3});
  EXPECT_TRUE(FileBytes(other) == FileBytes(reordered_));
  EXPECT_FALSE(std::filesystem::exists(other + "/reordered.part"));
}

TEST_F(SegmentReordererTest, MergingBringsBackTheOrderOfDocIds) {
  const auto reordered = *Segment::Open(reordered_);
  const std::string merged = folder_.path() + "/merged";
  ASSERT_TRUE(MergeSegments({{reordered.get()}}, merged).ok());
  EXPECT_TRUE(FileBytes(merged) == FileBytes(given_));
}

TEST_F(SegmentReordererTest, TooLittleMemoryLeavesTheSegmentAsItWas) {
  const std::string before = FileBytes(given_);
  const auto summary = ReorderSegment(given_, {.memory_size_max = 1000});
  EXPECT_EQ(summary.status().code(), neptune::StatusCode::kResourceExhausted);
  EXPECT_TRUE(FileBytes(given_) == before);
}

}  // namespace
}  // namespace search::index
