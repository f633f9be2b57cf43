#include "frontend/search_plan/asked_index.h"

#include <gtest/gtest.h>

namespace search::frontend {
namespace {

using std::chrono::seconds;

neptune::TimePoint At(int s) { return neptune::TimePoint(seconds(1000 + s)); }

uint64_t FormerVersion(const AskedIndexes& asked, int s) {
  const auto former = asked.FormerAt(At(s));
  return former ? former->version : 0;
}

TEST(AskedIndexesTest, TheFormerVersionIsKnownForAWhile) {
  AskedIndexes asked(seconds(60));
  EXPECT_EQ(asked.version(), 0u);
  asked.Ask({.version = 7}, At(0));
  EXPECT_EQ(asked.version(), 7u);
  EXPECT_EQ(FormerVersion(asked, 0), 0u) << "there was none before";
  asked.Ask({.version = 8}, At(10));
  EXPECT_EQ(asked.Now().version, 8u);
  EXPECT_EQ(FormerVersion(asked, 10), 7u);
  EXPECT_EQ(FormerVersion(asked, 69), 7u);
  EXPECT_EQ(FormerVersion(asked, 70), 0u);
}

TEST(AskedIndexesTest, ATakenBackVersionIsFormer) {
  AskedIndexes asked(seconds(60));
  asked.Ask({.version = 7}, At(0));
  asked.Ask({.version = 8}, At(10));
  asked.Ask({.version = 7}, At(20));
  EXPECT_EQ(FormerVersion(asked, 20), 8u);
}

TEST(AskedIndexesTest, AskingForTheSameVersionIsNoSwitch) {
  AskedIndexes asked(seconds(60));
  asked.Ask({.version = 7}, At(0));
  asked.Ask({.version = 8}, At(10));
  asked.Ask({.version = 8}, At(60));
  EXPECT_EQ(FormerVersion(asked, 60), 7u);
  EXPECT_EQ(FormerVersion(asked, 71), 0u) << "since the switch";
}

TEST(AskedIndexesTest, VersionsWithoutANumberAreNeverFormer) {
  AskedIndexes asked(seconds(60));
  asked.Ask({.version = 0}, At(0));
  asked.Ask({.version = 7}, At(1));
  EXPECT_EQ(FormerVersion(asked, 1), 0u);
  asked.Ask({.version = 0}, At(2));
  EXPECT_EQ(FormerVersion(asked, 2), 0u);
}

TEST(AskedIndexesTest, ZeroLifeMeansNever) {
  AskedIndexes asked(seconds(0));
  asked.Ask({.version = 7}, At(0));
  asked.Ask({.version = 8}, At(0));
  EXPECT_EQ(FormerVersion(asked, 0), 0u);
}

}  // namespace
}  // namespace search::frontend
