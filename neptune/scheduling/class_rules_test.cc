#include "neptune/scheduling/class_rules.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

constexpr ClassNumber kBulk = 0;
constexpr ClassNumber kHot = 1;
constexpr ClassNumber kUsual = 2;
const PartitionId kFirst(0);
const PartitionId kThird(2);

const std::vector<ClassRule>& Rules() {
  static const auto* const rules =
      new std::vector<ClassRule>{{.service_class = kHot, .partitions = {kThird}},
                                 {.service_class = kBulk, .method = "Rebuild", .always = true},
                                 {.service_class = kUsual, .method = "Rebuild"}};
  return *rules;
}

TEST(ClassRulesTest, TheRequestsClassPrecedesRules) {
  EXPECT_EQ(ClassByRules(Rules(), "Search", kThird, kUsual, kUsual), kUsual);
  EXPECT_EQ(ClassByRules(Rules(), "Search", kThird, std::nullopt, kUsual), kHot);
}

TEST(ClassRulesTest, RulesThatAlwaysApplyPrecedeTheRequestsClass) {
  EXPECT_EQ(ClassByRules(Rules(), "Rebuild", kFirst, kUsual, kUsual), kBulk);
  EXPECT_EQ(ClassByRules(Rules(), "Rebuild", kThird, kUsual, kUsual), kBulk);
}

TEST(ClassRulesTest, TheFirstMatchingRuleApplies) {
  EXPECT_EQ(ClassByRules(Rules(), "Rebuild", kThird, std::nullopt, kUsual), kHot);
  EXPECT_EQ(ClassByRules(Rules(), "Rebuild", kFirst, std::nullopt, kUsual), kBulk);
}

TEST(ClassRulesTest, TheDefaultClassIsTheLast) {
  EXPECT_EQ(ClassByRules(Rules(), "Search", kFirst, std::nullopt, kBulk), kBulk);
  EXPECT_EQ(ClassByRules({}, "Search", kFirst, kHot, kBulk), kHot);
}

}  // namespace
}  // namespace neptune
