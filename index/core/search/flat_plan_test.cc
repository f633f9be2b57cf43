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

  static void AddPhrases(const char* before, const std::vector<FlatPlan::Phrase>& phrases,
                         std::string* described) {
    for (const FlatPlan::Phrase& phrase : phrases) {
      *described += before;
      for (const uint32_t word : phrase.words) *described += std::to_string(word);
      *described += "\"";
    }
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
    AddPhrases(" \"", flat->phrases, &described);
    AddPhrases(" or \"", flat->any_of.phrases, &described);
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

TEST_F(FlatPlanTest, PhrasesMayBeAlternatives) {
  EXPECT_EQ(FlattenText("+b OR \"c d\""), "|1|1o1 or \"12\"") << "one word of the phrase leads";
  EXPECT_EQ(FlattenText("+e (+b OR \"c d\")"), "+1|1|1o1 or \"23\"");
  EXPECT_EQ(FlattenText("\"b c\" OR \"d e\""), "|1o1|1o1 or \"01\" or \"23\"");
  EXPECT_EQ(FlattenText("\"b c\" OR \"c d\""), "|1|2o1 or \"01\" or \"12\"");
  EXPECT_EQ(FlattenText("+b OR (+c NEAR +d)"), "|1|1o1 or \"12\"");
  EXPECT_EQ(FlattenText("+e \"b c\" (+d OR \"e b\")"), "none") << "all its words are required";
}

TEST_F(FlatPlanTest, APhraseWithAnAlternativeWordAddsNothing) {
  EXPECT_EQ(FlattenText("+b OR \"b c\""), "|2o1");
  EXPECT_EQ(FlattenText("+e (+e OR \"b c\")"), "+2o1o1");
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
