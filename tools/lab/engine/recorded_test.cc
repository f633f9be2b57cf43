#include "tools/lab/engine/recorded.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace search::lab {
namespace {

const Point kPoint{{"policy", "poll 3"}};

std::string TextOf(double mean, double other) {
  Results results(Length::kSmoke);
  results.Add(kPoint, {{"mean_ms", mean}, {"other", other}});
  Judgement judgement(Length::kSmoke, 1);
  judgement.AtMost("mean", "", results.Mean(kPoint, "mean_ms"), 1, "ms");
  judgement.Holds("order", "", "a < b", "a < b", true);
  return RecordedText(results, judgement);
}

TEST(RecordedTest, SameFiguresHaveNoDifferences) {
  EXPECT_EQ(DifferencesFrom("# comment\n" + TextOf(1.0 / 3, 2), TextOf(1.0 / 3, 2)), "");
}

TEST(RecordedTest, LastBitOfARowIsADifferenceThatIsPrinted) {
  const double third = 1.0 / 3;
  const std::string differences =
      DifferencesFrom(TextOf(third, 2), TextOf(std::nextafter(third, 1), 2));
  EXPECT_NE(differences.find("row mean: recorded 0.3333333333333333, now 0.33333333333333337\n"),
            std::string::npos)
      << differences;
}

TEST(RecordedTest, MetricOfNoRowShowsAtItsPoint) {
  const std::string differences = DifferencesFrom(TextOf(1, 2), TextOf(1, 3));
  EXPECT_EQ(differences.find("row"), std::string::npos);
  EXPECT_NE(differences.find("point policy=poll 3: recorded 2 metrics "), std::string::npos)
      << differences;
}

TEST(RecordedTest, RowsThatComeAndGoAreDifferences) {
  const std::string one = "row\ta\t1\n";
  const std::string two = "row\ta\t1\nrow\ta\t2\n";
  EXPECT_EQ(DifferencesFrom(two, one), "row a (2): recorded 2, now absent\n");
  EXPECT_EQ(DifferencesFrom(one, two), "row a (2): not recorded, now 2\n");
}

}  // namespace
}  // namespace search::lab
