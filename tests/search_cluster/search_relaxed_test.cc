// Questions whose phrases and demanded words no document has, on a whole simulated cluster: what is
// shown is what one index gives for their words.

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "index/core/testing/documents.h"
#include "neptune/base/strings.h"
#include "tests/search_cluster/answer_oracle.h"
#include "tests/search_cluster/search_cluster.h"
#include "tests/search_cluster/single_index.h"

namespace search::tests {
namespace {

using neptune::StrCat;
using std::chrono::seconds;

constexpr int kQuestionCount = 80;

class SearchRelaxedTest : public SingleIndexTest {
 protected:
  void BuildWithOracle() {
    Build();
    placement_ = std::make_unique<Placement>(corpus_, IndexShape());
    auto oracle = AnswerOracle::Open(folder_.path(), corpus_, *placement_);
    ASSERT_TRUE(oracle.ok()) << oracle.status();
    oracle_ = *std::move(oracle);
  }

  std::string RandomWord(std::mt19937_64& random) const {
    const auto& document = corpus_.documents[random() % corpus_.documents.size()];
    const auto words = index::FoldWords(document.body, 60);
    return words.empty() ? "none" : words[random() % words.size()].text;
  }

  // Words of different documents side by side, which hardly any document has so.
  std::string RandomQuestion(std::mt19937_64& random) const {
    std::string question = StrCat("\"", RandomWord(random), " ", RandomWord(random), "\"");
    if (random() % 2 == 0) neptune::StrAppend(&question, " ", RandomWord(random));
    if (random() % 4 == 0) neptune::StrAppend(&question, " +", RandomWord(random));
    if (random() % 4 == 0) neptune::StrAppend(&question, " -", RandomWord(random));
    return question;
  }

  // Returns the number of relaxed answers.
  int AskQuestions(SearchCluster& cluster, uint64_t seed) const {
    std::mt19937_64 random(seed);
    int relaxed_count = 0;
    for (int i = 0; i < kQuestionCount; ++i) {
      const std::string question = RandomQuestion(random);
      SCOPED_TRACE(StrCat("seed ", seed, ": ", question));
      const auto answer = cluster.Search({.query = question, .may_relax = true});
      EXPECT_TRUE(answer.ok()) << answer.status();
      if (!answer.ok()) return relaxed_count;
      EXPECT_EQ(oracle_->Check(*answer), "");
      relaxed_count += answer->unmet_demands.empty() ? 0 : 1;
      EXPECT_TRUE(answer->unmet_demands.empty() || answer->total > 0);
    }
    return relaxed_count;
  }

  std::unique_ptr<Placement> placement_;
  std::unique_ptr<AnswerOracle> oracle_;
};

TEST_F(SearchRelaxedTest, AnswersAreThoseOfOneIndex) {
  BuildWithOracle();
  SearchCluster cluster(41, DevSpec(), folder_.path());
  EXPECT_GT(AskQuestions(cluster, 41), kQuestionCount / 2);
}

TEST_F(SearchRelaxedTest, MissingPartitionsAreNamedAndTheirDocumentsMissing) {
  BuildWithOracle();
  SearchCluster cluster(42, DevSpec(), folder_.path());
  // Kills both replicas of a partition of each tier.
  cluster.Kill("store-1");
  cluster.Kill("store-4");
  cluster.simulator().RunFor(seconds(10));
  EXPECT_GT(AskQuestions(cluster, 42), kQuestionCount / 2);
}

}  // namespace
}  // namespace search::tests
