#include <gtest/gtest.h>

#include "tools/bench_index/game_query.h"
#include "tools/bench_index/timing_table.h"

namespace search::tools {
namespace {

using Kind = index::QueryNode::Kind;

TEST(GameQueryTest, ReadsAllOfAnyOfAndPhrase) {
  const auto all = ParseGameQuery("+griffith +Observatory").root;
  ASSERT_EQ(all.kind, Kind::kAnd);
  EXPECT_EQ(all.children[1].term, "observatory");
  EXPECT_EQ(ParseGameQuery("griffith observatory").root.kind, Kind::kOr);
  const auto phrase = ParseGameQuery("\"the who\"").root;
  ASSERT_EQ(phrase.kind, Kind::kPhrase);
  EXPECT_EQ(phrase.phrase[1].position, 1u);
  EXPECT_EQ(ParseGameQuery("the").root.kind, Kind::kTerm);
  EXPECT_EQ(ParseGameQuery("u.s.").root.kind, Kind::kPhrase);
}

TEST(GameQueryTest, OptionalPartsBesideRequiredOnesOnlyScore) {
  const auto root = ParseGameQuery("+a b c").root;
  ASSERT_EQ(root.kind, Kind::kAnd);
  ASSERT_EQ(root.children.size(), 2u);
  EXPECT_EQ(root.children[0].term, "a");
  ASSERT_EQ(root.children[1].kind, Kind::kOr);
  EXPECT_EQ(root.children[1].children.size(), 3u);
}

TEST(GameQueryTest, Excludes) {
  const auto root = ParseGameQuery("+python -snake -\"monty flying\"").root;
  ASSERT_EQ(root.kind, Kind::kAnd);
  ASSERT_EQ(root.children.size(), 3u);
  EXPECT_EQ(root.children[1].kind, Kind::kNot);
  EXPECT_EQ(root.children[2].children[0].kind, Kind::kPhrase);
}

TEST(GameQueryTest, NothingButSignsOrExclusionsIsNothing) {
  for (const char* text : {"", " + - ", "\"", "-a", "\"\" +"}) {
    EXPECT_EQ(ParseGameQuery(text).root.kind, Kind::kNothing) << text;
  }
  EXPECT_EQ(ParseGameQuery("a a").root.kind, Kind::kTerm);
}

TEST(GameQueryTest, Classes) {
  EXPECT_EQ(ClassOf("the"), QueryClass::kTerm);
  EXPECT_EQ(ClassOf("+a +b"), QueryClass::kIntersection);
  EXPECT_EQ(ClassOf("a b"), QueryClass::kUnion);
  EXPECT_EQ(ClassOf("\"a b\""), QueryClass::kPhrase);
  EXPECT_EQ(ClassOf("+a b"), QueryClass::kMixed);
  EXPECT_EQ(ClassOf("+\"a b\" +c"), QueryClass::kMixed);
  EXPECT_EQ(ClassOf("+a -b"), QueryClass::kNegated);
}

TEST(TimingTableTest, ComparesWithTheBestPeerOfAClass) {
  TimingTable table;
  ASSERT_TRUE(table
                  .AddTsv("engine\tcommand\tquery\tcount\tmin_us\tp50_us\tmean_us\n"
                          "ours\tCOUNT\ta b\t1\t10\t11\t12\n"
                          "slow\tCOUNT\ta b\t1\t90\t91\t92\n"
                          "fast\tCOUNT\ta b\t1\t40\t41\t42\n"
                          "fast\tCOUNT\ta b\t1\t20\t41\t42\n")
                  .ok());
  EXPECT_EQ(table.engines(), (std::vector<std::string>{"fast", "ours", "slow"}));
  const std::string text = table.Comparison("ours");
  EXPECT_NE(text.find("fast"), std::string::npos) << text;
  EXPECT_NE(text.find("2.00"), std::string::npos) << text;
  EXPECT_EQ(text.find("slow"), std::string::npos) << text;
}

TEST(TimingTableTest, RefusesOtherLines) {
  TimingTable table;
  EXPECT_FALSE(table.AddTsv("names\nours\tCOUNT\ta\t1\tx\t1\t1\n").ok());
  EXPECT_FALSE(table.AddTsv("names\nours\tCOUNT\ta\n").ok());
}

TEST(PercentileTest, IsAValueOfTheList) {
  EXPECT_EQ(Percentile({}, 0.5), 0);
  EXPECT_EQ(Percentile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(Percentile({3, 1, 2}, 0.99), 3);
}

}  // namespace
}  // namespace search::tools
