// Stage lengths that calls are given, by what calls brought.

#include "neptune/dac/stage_learner.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>

namespace neptune {
namespace {

constexpr uint64_t kSeed = 4;

class StageLearnerTest : public testing::Test {
 protected:
  // How often each length was given in `count` calls.
  std::map<double, int> Run(int count, double left, const std::function<double(double)>& quality) {
    std::map<double, int> given;
    for (int i = 0; i < count; ++i) {
      const StageLearner::Choice choice = *learner_.Choose(24, left, random_);
      ++given[choice.length()];
      learner_.OnEnd(choice, quality(choice.length()));
    }
    return given;
  }

  RandomSource random_{kSeed};
  StageLearner learner_;
};

TEST_F(StageLearnerTest, StagesAreLongWhileNothingIsMissing) {
  EXPECT_EQ(Run(1000, 200, [](double) { return 1.0; }), (std::map<double, int>{{4, 1000}}));
}

TEST_F(StageLearnerTest, TheBestLengthIsFoundAndOthersAreTriedNowAndThen) {
  const auto quality = [](double length) { return length == 1 ? 0.8 : 0.4; };
  Run(100, 30, quality);
  std::map<double, int> given = Run(3200, 30, quality);
  EXPECT_GT(given[1], 3000);
  for (const double length : kStageLengths) EXPECT_GT(given[length], 0) << length;
}

TEST_F(StageLearnerTest, OfLengthsThatAreNearlyAlikeTheLongestIsGiven) {
  std::map<double, int> given =
      Run(1000, 30, [](double length) { return length <= 2 ? 0.8 - 0.002 * length : 0.5; });
  EXPECT_GT(given[2], 900);
}

TEST_F(StageLearnerTest, KindsOfCallsAreLearnedApart) {
  Run(200, 20, [](double length) { return length == 0.25 ? 0.5 : 0.1; });
  EXPECT_EQ(Run(100, 200, [](double) { return 1.0; }), (std::map<double, int>{{4, 100}}));
  EXPECT_GT(Run(100, 20, [](double length) { return length == 0.25 ? 0.5 : 0.1; })[0.25], 80);
}

TEST_F(StageLearnerTest, AChangeIsFollowed) {
  Run(300, 30, [](double length) { return length == 0.5 ? 0.8 : 0.4; });
  Run(1500, 30, [](double length) { return length == 2 ? 0.8 : 0.4; });
  EXPECT_GT(Run(300, 30, [](double length) { return length == 2 ? 0.8 : 0.4; })[2], 250);
}

TEST_F(StageLearnerTest, NothingIsLearnedOfACallThatHasTimeEnough) {
  EXPECT_TRUE(learner_.Choose(24, 200, random_).has_value());
  EXPECT_FALSE(learner_.Choose(24, 400, random_).has_value());
  EXPECT_TRUE(learner_.Choose(512, 400, random_).has_value());
}

TEST_F(StageLearnerTest, AnyTimeLeftIsOfAKind) {
  for (const double left : {-1.0, 0.0, 0.5, 1.0, 1e300, std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()}) {
    const auto choice = learner_.Choose(1000, left, random_);
    if (choice) learner_.OnEnd(*choice, 0.5);
  }
}

}  // namespace
}  // namespace neptune
