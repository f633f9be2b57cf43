#include "index/tier/title_operators.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "index/core/testing/collection.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

using neptune::StrCat;

class TitleOperatorsTest : public testing::Test {
 protected:
  // A table of the documents 10, 20, ... 90.
  TitleOperatorsTest() {
    const auto writer = *TitleTableWriter::Create(folder_.path());
    for (uint64_t doc_id = 10; doc_id < 100; doc_id += 10) {
      const std::string name = StrCat(doc_id);
      EXPECT_TRUE(writer->Add(doc_id, {.url = name, .title = name, .site = "s"}).ok());
    }
    EXPECT_TRUE(writer->Finish().ok());
    titles_ = *TitleTable::Open(folder_.path());
  }

  TitlesAnswer Ask(std::initializer_list<uint64_t> doc_ids) {
    TitlesQuery query;
    for (const uint64_t doc_id : doc_ids) query.add_doc_ids(doc_id);
    return *TitlesOperator(titles_.get(), query);
  }

  TemporaryFolder folder_;
  std::unique_ptr<const TitleTable> titles_;
};

TEST_F(TitleOperatorsTest, FirstHitsGetTheirTitles) {
  TierAnswer answer;
  for (const uint64_t doc_id : {50, 51, 20, 70}) answer.add_hits()->set_doc_id(doc_id);
  AddTitles(*titles_, 3, &answer);
  EXPECT_EQ(answer.hits(0).title().url(), "50");
  EXPECT_EQ(answer.hits(0).title().site(), "s");
  EXPECT_FALSE(answer.hits(1).has_title()) << "the table does not have it";
  EXPECT_EQ(answer.hits(2).title().title(), "20");
  EXPECT_FALSE(answer.hits(3).has_title());
}

TEST_F(TitleOperatorsTest, KnownDocumentsAreNamedInAscendingOrder) {
  const TitlesAnswer answer = Ask({70, 11, 20, 70});
  ASSERT_EQ(answer.documents_size(), 2);
  EXPECT_EQ(answer.documents(0).doc_id(), 20u);
  EXPECT_EQ(answer.documents(1).title(), "70");
}

TEST_F(TitleOperatorsTest, PartitionWithoutATableKnowsNone) {
  TitlesQuery query;
  query.add_doc_ids(10);
  EXPECT_EQ(TitlesOperator(nullptr, query)->documents_size(), 0);
}

TEST_F(TitleOperatorsTest, TooManyDocumentsAreRefused) {
  TitlesQuery query;
  for (uint32_t i = 0; i <= kTitledDocumentsMax; ++i) query.add_doc_ids(i);
  EXPECT_EQ(TitlesOperator(titles_.get(), query).status().code(),
            neptune::StatusCode::kInvalidArgument);
}

TEST_F(TitleOperatorsTest, MergeIsCommutativeAndAssociativeAndNamesEachOnce) {
  TitlesAnswer a = Ask({10, 30});
  TitlesAnswer b = Ask({20, 30});
  b.mutable_documents(1)->set_title("another");
  const TitlesAnswer c = Ask({30, 90});
  const auto bytes = [](const TitlesAnswer& answer) { return answer.SerializeAsString(); };
  EXPECT_EQ(bytes(MergeTitlesAnswers(a, b)), bytes(MergeTitlesAnswers(b, a)));
  EXPECT_EQ(bytes(MergeTitlesAnswers(MergeTitlesAnswers(a, b), c)),
            bytes(MergeTitlesAnswers(a, MergeTitlesAnswers(b, c))));
  EXPECT_EQ(MergeTitlesAnswers(a, b).documents_size(), 3);
}

}  // namespace
}  // namespace search::index
