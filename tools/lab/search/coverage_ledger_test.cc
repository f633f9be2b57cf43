#include "tools/lab/search/coverage_ledger.h"

#include <gtest/gtest.h>

namespace search::lab {
namespace {

constexpr char kAnswer[] =
    R"({"index_version": 3, "partial": true, "total": 7, "results":
    [{"id": "5", "title": "t5"}, {"id": "12", "title": "t12"}], "coverage": {"tiers": [
    {"missing": [{"partition": 2, "reason": "gone"}], "ended_early": [], "evaluated_completely": true}]}})";

TEST(ReadCoverageClaimTest, ReadsWhatAnAnswerSaysOfItself) {
  const auto claim = ReadCoverageClaim(kAnswer);
  ASSERT_TRUE(claim.has_value());
  EXPECT_EQ(claim->missing, 1u << 2);
  EXPECT_EQ(claim->results_from, (1u << 1) | (1u << 0));
  EXPECT_EQ(claim->total, 7u);
  EXPECT_TRUE(claim->searched_to_the_end);
  EXPECT_TRUE(claim->partial);
  EXPECT_FALSE(claim->relaxed);
  EXPECT_EQ(claim->index_version, 3u);
  EXPECT_EQ(claim->results, "5 t5\n12 t12\n");
}

TEST(ReadCoverageClaimTest, ReadsThatTheQuestionWasRelaxed) {
  for (const bool is_relaxed : {false, true}) {
    std::string answer = kAnswer;
    answer.insert(1, is_relaxed ? R"("relaxed": {"demands": ["w1"]}, )" : R"("relaxed": null, )");
    const auto claim = ReadCoverageClaim(answer);
    ASSERT_TRUE(claim.has_value());
    EXPECT_EQ(claim->relaxed, is_relaxed);
  }
}

TEST(ReadCoverageClaimTest, TakesNothingElse) {
  for (const char* text : {"", "{}", R"({"total": 1, "results": [], "coverage": {}})"}) {
    EXPECT_FALSE(ReadCoverageClaim(text).has_value()) << text;
  }
}

class CoverageLedgerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { index_ = *SyntheticIndex::Shared(400); }

  // The partitions that are not missing.
  static uint64_t TotalOf(const std::string& question, uint32_t missing) {
    const MadeTiers tiers = *OpenMadeTiers(index_->folder());
    uint64_t total = 0;
    for (uint32_t p = 0; p < tiers.size(); ++p) {
      if ((missing & (1u << p)) != 0) continue;
      total += tiers[p]->Search(*TierQueryOf(question), {})->total();
    }
    return total;
  }

  static const SyntheticIndex* index_;
  CoverageLedger ledger_ = *CoverageLedger::Open(*index_);
  const std::string question_ = "w1 w2";
};
const SyntheticIndex* CoverageLedgerTest::index_ = nullptr;

TEST_F(CoverageLedgerTest, TrueIsWhatThePartitionsSay) {
  for (const uint32_t missing : {0u, 4u, 9u}) {
    EXPECT_TRUE(
        *ledger_.IsTrue(question_, {.missing = missing, .total = TotalOf(question_, missing)}));
  }
}

TEST_F(CoverageLedgerTest, AnAnswerThatHidesAPartitionsAbsenceIsUntrue) {
  ASSERT_LT(TotalOf(question_, 4), TotalOf(question_, 0));
  EXPECT_FALSE(*ledger_.IsTrue(question_, {.missing = 0, .total = TotalOf(question_, 4)}));
}

TEST_F(CoverageLedgerTest, ResultsOfAMissingPartitionAreUntrue) {
  EXPECT_FALSE(*ledger_.IsTrue(question_,
                               {.missing = 4, .results_from = 4, .total = TotalOf(question_, 4)}));
}

TEST_F(CoverageLedgerTest, ARelaxedAnswerHasSomeOfTheWordsWhereNothingHasAll) {
  const std::string all = "w1 nowhere";
  ASSERT_EQ(TotalOf(all, 0), 0u);
  const uint64_t some = TotalOf("w1 OR nowhere", 0);
  ASSERT_GT(some, 0u);
  EXPECT_TRUE(*ledger_.IsTrue(all, {.total = some, .relaxed = true}));
  EXPECT_FALSE(*ledger_.IsTrue(all, {.total = some}));
  EXPECT_FALSE(*ledger_.IsTrue(all, {.total = some - 1, .relaxed = true}));
  EXPECT_FALSE(*ledger_.IsTrue("w1 w2", {.total = TotalOf("w1 OR w2", 0), .relaxed = true}))
      << "some pages have both";
  EXPECT_FALSE(*ledger_.IsTrue("w1", {.total = TotalOf("w1", 0), .relaxed = true}));
}

TEST_F(CoverageLedgerTest, WhoDidNotSearchToTheEndMayCountLess) {
  EXPECT_TRUE(*ledger_.IsTrue(question_, {.total = 1, .searched_to_the_end = false}));
}

}  // namespace
}  // namespace search::lab
