#include "index/core/builder/postings_importer.h"

#include <gtest/gtest.h>

#include "index/core/query/query.h"
#include "index/core/search/collection_statistics.h"
#include "index/core/search/global_statistics.h"
#include "index/core/search/searcher.h"
#include "index/core/segment/segment_reader.h"
#include "index/core/testing/collection.h"

namespace search::index {
namespace {

using neptune::StatusCode;

class PostingsImporterTest : public testing::Test {
 protected:
  PostingsImporterTest() { importer_ = *PostingsImporter::Create(folder_.path()); }

  neptune::StatusOr<SearchResult> Search(const std::string& text) {
    const auto segment = Segment::Open(folder_.path());
    const auto statistics = CollectionStatistics::Open(folder_.path(), **segment, {});
    const auto searcher = Searcher::Create(**segment, **statistics);
    return (*searcher)->Search(*ParseQuery(text), {.k = 10, .count_exactly = true});
  }

  void AddCatAndDog() {
    ASSERT_TRUE(importer_->AddPosting("cat", 0, 3).ok());
    ASSERT_TRUE(importer_->AddPosting("cat", 1, 1).ok());
    ASSERT_TRUE(importer_->AddPosting("dog", 1, 2).ok());
    ASSERT_TRUE(importer_->AddDocument(7, 3).ok());
    ASSERT_TRUE(importer_->AddDocument(9, 3).ok());
  }

  TemporaryFolder folder_;
  std::unique_ptr<PostingsImporter> importer_;
};

TEST_F(PostingsImporterTest, AnswersWordsAndRefusesPhrases) {
  AddCatAndDog();
  ASSERT_TRUE(importer_->Finish().ok());
  ASSERT_TRUE(ComputeGlobalStatistics({folder_.path()}).ok());
  const auto cats = Search("cat");
  ASSERT_TRUE(cats.ok()) << cats.status();
  ASSERT_EQ(cats->hits.size(), 2U);
  EXPECT_EQ(cats->hits[0].doc_id, 7U);
  EXPECT_EQ(Search("cat dog")->total, 1U);
  for (const char* phrase : {"\"cat dog\"", "cat -\"cat dog\"", "\"absent dog\""}) {
    const auto refused = Search(phrase);
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument) << phrase;
    EXPECT_NE(refused.status().message().find("no positions"), absl::string_view::npos);
  }
}

TEST_F(PostingsImporterTest, RefusesWhatIsOutOfOrder) {
  AddCatAndDog();
  EXPECT_EQ(importer_->AddPosting("cat", 5, 1).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(importer_->AddPosting("dog", 1, 1).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(importer_->AddDocument(9, 1).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(importer_->AddPosting("", 1, 1).code(), StatusCode::kInvalidArgument);
}

TEST_F(PostingsImporterTest, RefusesPostingsOfDocumentsThatAreAbsent) {
  ASSERT_TRUE(importer_->AddPosting("cat", 4, 1).ok());
  ASSERT_TRUE(importer_->AddDocument(1, 1).ok());
  EXPECT_EQ(importer_->Finish().status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace search::index
