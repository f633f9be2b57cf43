#include "index/core/query/recent_queries.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "neptune/base/strings.h"

namespace search::index {
namespace {

using neptune::StrCat;

std::shared_ptr<const Query> Parsed(RecentQueries& recent, const std::string& text) {
  auto query = recent.Parse(text);
  EXPECT_TRUE(query.ok()) << query.status();
  return *query;
}

TEST(RecentQueriesTest, TextIsParsedOnce) {
  RecentQueries recent;
  const auto first = Parsed(recent, "(hash OR map) site:x");
  EXPECT_EQ(*first, *ParseQuery("(hash OR map) site:x", ParseLimits::ForCanonical()));
  EXPECT_EQ(Parsed(recent, "(hash OR map) site:x"), first);
  EXPECT_EQ(recent.parsed_count(), 1u);
}

TEST(RecentQueriesTest, EachTextHasItsOwnTree) {
  RecentQueries recent;
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < RecentQueries::kQueryCount; ++i) {
      EXPECT_EQ(Canonical(*Parsed(recent, StrCat("word", i))), StrCat("word", i));
    }
  }
  EXPECT_EQ(recent.parsed_count(), RecentQueries::kQueryCount);
  EXPECT_EQ(Canonical(*Parsed(recent, "")), "");
}

TEST(RecentQueriesTest, OldestGivesWay) {
  RecentQueries recent;
  const auto first = Parsed(recent, "first");
  for (size_t i = 0; i < RecentQueries::kQueryCount; ++i) Parsed(recent, StrCat("word", i));
  EXPECT_NE(Parsed(recent, "first"), first);
  EXPECT_EQ(Canonical(*first), "first") << "who holds it keeps it";
}

TEST(RecentQueriesTest, ErrorsAndLongTextsAreNotKept) {
  RecentQueries recent;
  std::string nested;
  for (int i = 0; i < 100; ++i) nested += "(a OR b ";
  EXPECT_FALSE(recent.Parse(nested).ok());
  EXPECT_FALSE(recent.Parse(nested).ok());
  std::string text;
  while (text.size() <= RecentQueries::kTextSizeMax) text += "longword OR ";
  text += "longword";
  const auto first = Parsed(recent, text);
  EXPECT_EQ(*Parsed(recent, text), *first);
  EXPECT_EQ(recent.parsed_count(), 4u);
}

TEST(RecentQueriesTest, ThreadHasOne) {
  RecentQueries& recent = RecentQueries::OfThread();
  EXPECT_EQ(&RecentQueries::OfThread(), &recent);
}

}  // namespace
}  // namespace search::index
