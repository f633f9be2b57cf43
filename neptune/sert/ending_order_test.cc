#include "neptune/sert/ending_order.h"

#include <gtest/gtest.h>

#include <vector>

namespace neptune {
namespace {

using std::chrono::milliseconds;

RunningRequest One(int age_ms, int in_pool_ms, bool is_in_pool = true) {
  return {milliseconds(age_ms), milliseconds(in_pool_ms), is_in_pool};
}

TEST(EndingOrderTest, TheOneThatHadAPlaceLongestComesBeforeTheOldest) {
  const std::vector<RunningRequest> running = {One(900, 100), One(500, 400), One(600, 300)};
  EXPECT_EQ(MostRelieving(running, milliseconds(200)), 1u);
}

TEST(EndingOrderTest, RequestOutsideOfThePoolIsNotChosen) {
  const std::vector<RunningRequest> running = {One(900, 800, false), One(500, 10)};
  EXPECT_EQ(MostRelieving(running, milliseconds(200)), 1u);
  EXPECT_EQ(MostRelieving(std::span(running).first(1), milliseconds(200)), std::nullopt);
}

TEST(EndingOrderTest, YoungOnesGoOn) {
  const std::vector<RunningRequest> running = {One(199, 199), One(200, 1)};
  EXPECT_EQ(MostRelieving(running, milliseconds(200)), 1u);
  EXPECT_EQ(MostRelieving(running, milliseconds(201)), std::nullopt);
  EXPECT_EQ(MostRelieving({}, milliseconds(0)), std::nullopt);
}

TEST(EndingOrderTest, TiesAreBrokenByAgeAndThenByOrder) {
  const std::vector<RunningRequest> running = {One(300, 200), One(400, 200), One(400, 200)};
  EXPECT_EQ(MostRelieving(running, milliseconds(100)), 1u);
}

TEST(EndingOrderTest, OnlyItsNamesAreTaken) {
  EXPECT_EQ(*ParseEndingOrder("age"), EndingOrder::kAge);
  EXPECT_EQ(*ParseEndingOrder("relief"), EndingOrder::kRelief);
  for (const char* name : {"", "Age", "size"}) {
    EXPECT_EQ(ParseEndingOrder(name).status().code(), StatusCode::kInvalidArgument) << name;
  }
}

}  // namespace
}  // namespace neptune
