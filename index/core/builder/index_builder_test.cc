#include "index/core/builder/index_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "index/core/segment/segment_reader.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

neptune::StatusOr<SegmentSummary> Build(const std::vector<TestDocument>& documents,
                                        const std::string& folder, size_t memory_size_max,
                                        int thread_count = 1) {
  NEPTUNE_ASSIGN_OR_RETURN(auto builder, IndexBuilder::Create({.directory = folder,
                                                               .memory_size_max = memory_size_max,
                                                               .thread_count = thread_count}));
  for (const TestDocument& document : documents) {
    NEPTUNE_RETURN_IF_ERROR(builder->Add(document.View()));
  }
  return builder->Finish();
}

std::string ReadSegment(const std::string& folder) {
  std::ifstream in(folder + "/segment", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(IndexBuilderTest, SpillingChangesNoByte) {
  const auto documents = ZipfDocuments(20'000, 3);
  const TemporaryFolder folder;
  const auto whole = Build(documents, folder.path() + "/whole", size_t{256} << 20);
  ASSERT_TRUE(whole.ok()) << whole.status();
  const auto spilled = Build(documents, folder.path() + "/spilled", size_t{1} << 20);
  ASSERT_TRUE(spilled.ok()) << spilled.status();
  EXPECT_EQ(whole->run_count, 0U);
  EXPECT_GE(spilled->run_count, 3U);
  EXPECT_EQ(ReadSegment(folder.path() + "/whole"), ReadSegment(folder.path() + "/spilled"));
  EXPECT_EQ(whole->size, std::filesystem::file_size(folder.path() + "/whole/segment"));
}

TEST(IndexBuilderTest, ThreadsChangeNoByte) {
  const auto documents = ZipfDocuments(14'000, 3);
  const TemporaryFolder folder;
  ASSERT_TRUE(Build(documents, folder.path() + "/one", size_t{256} << 20).ok());
  const std::string expected = ReadSegment(folder.path() + "/one");
  for (const int thread_count : {2, 3}) {
    const std::string several = folder.path() + "/" + std::to_string(thread_count);
    const auto summary =
        Build(documents, several, 3 * (size_t{1} + static_cast<size_t>(thread_count)) << 20,
              thread_count);
    ASSERT_TRUE(summary.ok()) << summary.status();
    EXPECT_GE(summary->run_count, 3U);
    EXPECT_TRUE(ReadSegment(several) == expected) << thread_count;
  }
}

TEST(IndexBuilderTest, LeavesOnlyTheSegment) {
  for (const int thread_count : {1, 2}) {
    const TemporaryFolder folder;
    ASSERT_TRUE(Build(ZipfDocuments(8'000, 4), folder.path(), size_t{9} << 20, thread_count).ok());
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      names.push_back(entry.path().filename().string());
    }
    EXPECT_EQ(names, std::vector<std::string>{"segment"});
  }
}

TEST(IndexBuilderTest, AbandonedBuildLeavesNothing) {
  const TemporaryFolder folder;
  for (const int thread_count : {1, 2}) {
    {
      auto builder =
          IndexBuilder::Create({.directory = folder.path(),
                                .memory_size_max = size_t{thread_count == 1 ? 1U : 9U} << 20,
                                .thread_count = thread_count});
      ASSERT_TRUE(builder.ok()) << builder.status();
      for (const TestDocument& document : ZipfDocuments(8'000, 4)) {
        ASSERT_TRUE((*builder)->Add(document.View()).ok());
      }
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

TEST(IndexBuilderTest, EmptySegmentOpens) {
  const TemporaryFolder folder;
  const auto summary = Build({}, folder.path(), size_t{1} << 20);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->document_count, 0U);
  const auto segment = Segment::Open(folder.path());
  ASSERT_TRUE(segment.ok()) << segment.status();
  EXPECT_EQ((*segment)->document_count(), 0U);
}

TEST(IndexBuilderTest, KeepsDocumentsAndTotals) {
  const TemporaryFolder folder;
  const std::vector<TestDocument> documents = {{.doc_id = 5,
                                                .title = "One two",
                                                .body = "three",
                                                .extra_text = "",
                                                .site = "a.org",
                                                .static_rank = 0.25F},
                                               {.doc_id = uint64_t{1} << 40,
                                                .title = "",
                                                .body = "one",
                                                .extra_text = "x y z",
                                                .site = "",
                                                .static_rank = 1}};
  ASSERT_TRUE(Build(documents, folder.path(), size_t{1} << 20).ok());
  const auto segment = Segment::Open(folder.path());
  ASSERT_TRUE(segment.ok()) << segment.status();
  EXPECT_EQ((*segment)->doc_ids()[1], uint64_t{1} << 40);
  EXPECT_EQ((*segment)->static_ranks()[0], 0.25F);
  EXPECT_EQ((*segment)->totals().length_sums, (std::array<uint64_t, 3>{2, 2, 3}));
  EXPECT_EQ((*segment)->FindDocument(5), 0U);
  EXPECT_EQ((*segment)->FindDocument(6), std::nullopt);
  EXPECT_TRUE((*segment)->terms().Find(Segment::SiteKey("a.org"))->has_value());
}

TEST(IndexBuilderTest, RefusesDocumentsOutOfOrder) {
  const TemporaryFolder folder;
  auto builder = IndexBuilder::Create({.directory = folder.path()});
  ASSERT_TRUE(builder.ok());
  const auto document = [](uint64_t doc_id, float static_rank) {
    return IndexedDocument{.doc_id = doc_id,
                           .title = "t",
                           .body = "b",
                           .extra_text = "",
                           .site = "",
                           .static_rank = static_rank};
  };
  EXPECT_TRUE((*builder)->Add(document(3, 0)).ok());
  EXPECT_EQ((*builder)->Add(document(3, 0)).code(), neptune::StatusCode::kInvalidArgument);
  EXPECT_FALSE((*builder)->Add(document(4, 0)).ok()) << "the first error stays";
  EXPECT_FALSE((*builder)->Finish().ok());
}

TEST(IndexBuilderTest, RefusesImpossibleRanksAndOptions) {
  for (const float rank : {-0.1F, 1.1F, std::nanf("")}) {
    const TemporaryFolder folder;
    std::vector<TestDocument> documents(1);
    documents[0].static_rank = rank;
    EXPECT_EQ(Build(documents, folder.path(), size_t{1} << 20).status().code(),
              neptune::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(IndexBuilder::Create({.directory = "x", .memory_size_max = 1000}).status().code(),
            neptune::StatusCode::kInvalidArgument);
  EXPECT_EQ(IndexBuilder::Create(
                {.directory = "x", .memory_size_max = size_t{8} << 20, .thread_count = 2})
                .status()
                .code(),
            neptune::StatusCode::kInvalidArgument);
  EXPECT_EQ(IndexBuilder::Create({.directory = "x", .thread_count = 0}).status().code(),
            neptune::StatusCode::kInvalidArgument);
  EXPECT_EQ(IndexBuilder::Create({.directory = "/dev/null/x"}).status().code(),
            neptune::StatusCode::kUnavailable);
}

TEST(IndexBuilderTest, FieldBeyondTheLimitIsCutOff) {
  const TemporaryFolder folder;
  std::vector<TestDocument> documents(1);
  for (uint32_t i = 0; i < kFieldTokensMax + 10; ++i) documents[0].body += "a ";
  documents[0].body += "behind";
  const auto summary = Build(documents, folder.path(), size_t{1} << 20);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->token_count, kFieldTokensMax);
  EXPECT_EQ(summary->term_count, 1U);
}

}  // namespace
}  // namespace search::index
