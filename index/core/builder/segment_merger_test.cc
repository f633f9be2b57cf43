#include "index/core/builder/segment_merger.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "index/core/builder/index_builder.h"
#include "index/core/builder/postings_importer.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

using neptune::StatusCode;

std::string FileBytes(const std::string& folder) {
  std::ifstream in(folder + "/segment", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::unique_ptr<Segment> BuildSegment(const std::vector<TestDocument>& documents,
                                      const std::string& folder) {
  auto builder = IndexBuilder::Create({.directory = folder});
  EXPECT_TRUE(builder.ok()) << builder.status();
  for (const TestDocument& document : documents) {
    EXPECT_TRUE((*builder)->Add(document.View()).ok());
  }
  EXPECT_TRUE((*builder)->Finish().ok());
  return std::move(*Segment::Open(folder));
}

// Builds segments of documents, deletes some documents, and computes the expected merged contents.
class MergeCase {
 public:
  // `in_turn`: ranges of doc ids do not overlap.
  MergeCase(const std::vector<TestDocument>& documents, size_t segment_count, uint64_t delete_every,
            bool in_turn, uint64_t seed) {
    std::mt19937_64 rng(seed);
    std::vector<std::vector<TestDocument>> parts(segment_count);
    for (size_t i = 0; i < documents.size(); ++i) {
      parts[in_turn ? i * segment_count / documents.size() : rng() % segment_count].push_back(
          documents[i]);
    }
    std::vector<TestDocument> left;
    for (const auto& part : parts) {
      const std::string folder = folder_.path() + "/" + std::to_string(segments_.size());
      segments_.push_back(BuildSegment(part, folder));
      live_.push_back(std::make_unique<LiveDocuments>(static_cast<uint32_t>(part.size())));
      for (uint32_t ordinal = 0; ordinal < part.size(); ++ordinal) {
        if (delete_every > 0 && rng() % delete_every == 0) {
          live_.back()->Delete(ordinal);
        } else {
          left.push_back(part[ordinal]);
        }
      }
      inputs_.push_back({segments_.back().get(), delete_every == 0 ? nullptr : live_.back().get()});
    }
    std::sort(left.begin(), left.end(),
              [](const TestDocument& a, const TestDocument& b) { return a.doc_id < b.doc_id; });
    BuildSegment(left, folder_.path() + "/expected");
  }

  // Merges in pieces of `posting_count_max` postings; 0: in one piece.
  void ExpectMergedAsBuilt(uint64_t posting_count_max = 0) {
    const auto summary = posting_count_max == 0 ? MergeSegments(inputs_, folder_.path() + "/merged")
                                                : MergeInPieces(posting_count_max);
    ASSERT_TRUE(summary.ok()) << summary.status();
    const std::string expected = FileBytes(folder_.path() + "/expected");
    ASSERT_EQ(summary->size, expected.size());
    ASSERT_TRUE(FileBytes(folder_.path() + "/merged") == expected) << "bytes differ";
  }

 private:
  neptune::StatusOr<SegmentSummary> MergeInPieces(uint64_t posting_count_max) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto merge, BeginMerge(inputs_, folder_.path() + "/merged"));
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(const bool more, merge->Step(posting_count_max));
      if (!more) return merge->Finish();
    }
  }

  TemporaryFolder folder_;
  std::vector<std::unique_ptr<Segment>> segments_;
  std::vector<std::unique_ptr<LiveDocuments>> live_;
  std::vector<MergeInput> inputs_;
};

TEST(SegmentMergerTest, MergedSegmentIsTheOneBuiltFromWhatIsLeft) {
  uint64_t seed = 20260701;
  for (const size_t segment_count : {1, 2, 5}) {
    for (const uint64_t delete_every : {0, 1, 2, 10}) {
      for (const bool in_turn : {false, true}) {
        SCOPED_TRACE(neptune::StrCat(segment_count, " segments, one in ", delete_every,
                                     " deleted, in turn ", in_turn, ", seed ", ++seed));
        MergeCase(ZipfDocuments(600, seed), segment_count, delete_every, in_turn, seed)
            .ExpectMergedAsBuilt();
      }
    }
  }
}

TEST(SegmentMergerTest, PiecesGiveTheSameBytes) {
  for (const uint64_t posting_count_max : {1, 50, 1'000'000}) {
    SCOPED_TRACE(posting_count_max);
    MergeCase(ZipfDocuments(300, 7), 3, 5, false, 7).ExpectMergedAsBuilt(posting_count_max);
  }
}

TEST(SegmentMergerTest, RealTextInThreeSegmentsIsMerged) {
  const std::vector<TestDocument> documents = LicenseDocuments();
  if (documents.empty()) GTEST_SKIP() << "SKIPPED: no /usr/share/common-licenses";
  MergeCase(documents, 3, 4, false, 1).ExpectMergedAsBuilt();
}

TEST(SegmentMergerTest, MergingNoSegmentsGivesAnEmptySegment) {
  TemporaryFolder folder;
  const auto summary = MergeSegments({}, folder.path());
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ((*Segment::Open(folder.path()))->document_count(), 0U);
}

TEST(SegmentMergerTest, DocumentThatLivesTwiceIsRefused) {
  TemporaryFolder folder;
  const auto documents = ZipfDocuments(20, 3);
  const auto a = BuildSegment(documents, folder.path() + "/a");
  const auto b = BuildSegment({documents[7]}, folder.path() + "/b");
  const std::string merged = folder.path() + "/merged";
  EXPECT_EQ(MergeSegments({{a.get()}, {b.get()}}, merged).status().code(),
            StatusCode::kInvalidArgument);
  LiveDocuments live(20);
  live.Delete(7);
  ASSERT_TRUE(MergeSegments({{a.get(), &live}, {b.get()}}, merged).ok());
  EXPECT_TRUE(FileBytes(merged) == FileBytes(folder.path() + "/a"));
  EXPECT_EQ(MergeSegments({{b.get(), &live}}, merged).status().code(),
            StatusCode::kInvalidArgument);
}

void Import(const std::string& folder, uint64_t first_doc_id, uint32_t length) {
  auto importer = PostingsImporter::Create(folder);
  ASSERT_TRUE(importer.ok());
  ASSERT_TRUE((*importer)->AddPosting("cat", 0, 2).ok());
  ASSERT_TRUE((*importer)->AddPosting("cat", 1, 1).ok());
  ASSERT_TRUE((*importer)->AddPosting("dog", 1, 1).ok());
  ASSERT_TRUE((*importer)->AddDocument(first_doc_id, length).ok());
  ASSERT_TRUE((*importer)->AddDocument(first_doc_id + 2, length).ok());
  ASSERT_TRUE((*importer)->Finish().ok());
}

TEST(SegmentMergerTest, SegmentsWithoutPositionsKeepTheirLengthCodes) {
  TemporaryFolder folder;
  Import(folder.path() + "/a", 10, 500);  // more than the frequencies add up to
  Import(folder.path() + "/b", 11, 2);
  const auto a = Segment::Open(folder.path() + "/a");
  const auto b = Segment::Open(folder.path() + "/b");
  const std::string path = folder.path() + "/merged";
  ASSERT_TRUE(MergeSegments({{a->get()}, {b->get()}}, path).ok());
  const auto merged = Segment::Open(path);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_FALSE((*merged)->has_positions());
  const std::vector<uint32_t> codes((*merged)->length_codes().begin(),
                                    (*merged)->length_codes().end());
  EXPECT_EQ(codes, (std::vector<uint32_t>{(*a)->length_codes()[0], (*b)->length_codes()[0],
                                          (*a)->length_codes()[1], (*b)->length_codes()[1]}));
  EXPECT_EQ((*merged)->terms().Find("cat")->value().document_frequency, 4U);

  const auto c = BuildSegment(ZipfDocuments(5, 1), folder.path() + "/c");
  EXPECT_EQ(MergeSegments({{a->get()}, {c.get()}}, path).status().code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace search::index
