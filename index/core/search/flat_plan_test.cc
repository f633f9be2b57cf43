#include "index/core/search/flat_plan.h"

#include <gtest/gtest.h>

#include <string>

#include "index/core/query/query.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

class FlatPlanTest : public testing::Test {
 protected:
  void SetUp() override {
    auto collection = TestCollection::Build({{.doc_id = 1, .title = "a", .body = "a b c d e"}}, {});
    ASSERT_TRUE(collection.ok()) << collection.status();
    collection_ = std::move(*collection);
  }

  // Returns one letter per word, in order of index: + required, | alternative, o optional, -
  // excluded, and its number of scoring occurrences; `none` if there is no flat form.
  std::string FlattenText(const std::string& text) const {
    const auto plan = MakeQueryPlan(*ParseQuery(text), collection_->segment(0));
    EXPECT_TRUE(plan.ok()) << plan.status();
    const auto flat = Flatten(*plan);
    if (!flat) return "none";
    std::string described;
    for (const FlatPlan::Word& word : flat->words) {
      described += "+|o-"[static_cast<int>(word.role)];
      described += std::to_string(word.occurrences);
    }
    for (const FlatPlan::Phrase& phrase : flat->phrases) {
      described += " \"";
      for (const uint32_t word : phrase.words) described += std::to_string(word);
      described += "\"";
    }
    return described;
  }

  std::unique_ptr<TestCollection> collection_;
};

TEST_F(FlatPlanTest, WordsTakeTheirRoles) {
  EXPECT_EQ(FlattenText("+b"), "+1");
  EXPECT_EQ(FlattenText("+b +c"), "+1+1");
  EXPECT_EQ(FlattenText("+b OR +c"), "|1|1");
  EXPECT_EQ(FlattenText("+b NOT c"), "+1-0");
  EXPECT_EQ(FlattenText("+b (+c OR +d) NOT e"), "+1|1|1-0");
}

TEST_F(FlatPlanTest, RepeatedWordScoresAsOftenAsItIsSaid) {
  EXPECT_EQ(FlattenText("+b +b +c"), "+2+1");
}

TEST_F(FlatPlanTest, AlternativesThatARequiredWordSettlesOnlyScore) {
  EXPECT_EQ(FlattenText("+b (+b OR +c)"), "+2o1");
}

TEST_F(FlatPlanTest, PhrasesNameTheirRequiredWords) {
  EXPECT_EQ(FlattenText("\"b c d\""), "+1+1+1 \"012\"");
  EXPECT_EQ(FlattenText("\"b c b\" +d"), "+2+1+1 \"010\"");
}

TEST_F(FlatPlanTest, WordsOfABranchThatCannotMatchScore) {
  EXPECT_EQ(FlattenText("+b OR \"c absent\""), "+1o1");
}

TEST_F(FlatPlanTest, OtherTreesHaveNone) {
  EXPECT_EQ(FlattenText("title:a"), "none");
  EXPECT_EQ(FlattenText("(+b +c) OR +d"), "none");
  EXPECT_EQ(FlattenText("+b -\"c d\""), "none");
  EXPECT_EQ(FlattenText("(+b OR +c) (+d OR +e)"), "none");
}

}  // namespace
}  // namespace search::index
