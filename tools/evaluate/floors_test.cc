#include "tools/evaluate/floors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

namespace search::tools {
namespace {

neptune::StatusOr<std::vector<Floor>> Read(const std::string& text) {
  const std::string path = testing::TempDir() + "/floors.tsv";
  std::ofstream(path) << text;
  return ReadFloors(path);
}

TEST(FloorsTest, ReadsBoundsOfBothKinds) {
  const auto floors =
      Read("# measure\nx.ndcg10\tat_least\t0.5\twhy\nx.empty\tat_most\t.1\tas so\n");
  ASSERT_TRUE(floors.ok()) << floors.status();
  EXPECT_EQ(*floors,
            (std::vector<Floor>{{"x.ndcg10", false, 0.5, "why"}, {"x.empty", true, 0.1, "as so"}}));
}

TEST(FloorsTest, RefusesBadLinesByNumber) {
  for (const char* line : {"a\tat_least\t0.5", "a\tabove\t0.5\twhy", "a\tat_least\thalf\twhy",
                           "a\tat_least\tnan\twhy", "x\tat_least\t0.6\twhy"}) {
    const auto floors = Read(std::string("x\tat_least\t0.5\twhy\n") + line + "\n");
    EXPECT_EQ(floors.status().code(), neptune::StatusCode::kInvalidArgument) << line;
    EXPECT_NE(floors.status().ToString().find(":2:"), std::string::npos) << floors.status();
  }
}

TEST(FloorsTest, ABoundIsWithinTheBounds) {
  const std::vector<Floor> floors = {{"a", false, 0.5, "why"}, {"b", true, 0.1, "why"}};
  EXPECT_TRUE(CheckFloors(floors, {{"a", 0.5}, {"b", 0.1}, {"c", 0}}).ok());
}

TEST(FloorsTest, NamesEveryValueBeyondItsBound) {
  const std::vector<Floor> floors = {
      {"a", false, 0.5, "why a"}, {"b", true, 0.1, "why b"}, {"c", false, 0.5, "why c"}};
  const neptune::Status status = CheckFloors(floors, {{"a", 0.49}, {"b", 0.11}, {"c", 0.6}});
  EXPECT_EQ(status.code(), neptune::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.ToString().find("why a"), std::string::npos) << status;
  EXPECT_NE(status.ToString().find("why b"), std::string::npos) << status;
  EXPECT_EQ(status.ToString().find("why c"), std::string::npos) << status;
}

TEST(FloorsTest, AValueThatIsNoNumberIsBeyondEveryBound) {
  EXPECT_FALSE(CheckFloors({{"a", false, 0, "why"}}, {{"a", std::nan("")}}).ok());
  EXPECT_FALSE(CheckFloors({{"a", true, 1, "why"}}, {{"a", std::nan("")}}).ok());
}

TEST(FloorsTest, AFloorOfAnUnknownMeasureIsAMistake) {
  EXPECT_EQ(CheckFloors({{"a", false, 0, "why"}}, {{"b", 1}}).code(),
            neptune::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace search::tools
