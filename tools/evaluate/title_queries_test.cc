#include "tools/evaluate/title_queries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

std::vector<std::string> TextsOf(const KnownItems& items) {
  std::vector<std::string> texts;
  for (const JudgedQuery& query : items.queries) texts.push_back(query.text);
  std::sort(texts.begin(), texts.end());
  return texts;
}

TEST(TitleQueriesTest, TypesATitleWithoutTheNumberOfItsSection) {
  EXPECT_EQ(TypedTitle("9.16. JSON  Functions and Operators"), "JSON Functions and Operators");
  EXPECT_EQ(TypedTitle("F.32. pg_stat_statements"), "pg_stat_statements");
  EXPECT_EQ(TypedTitle("Chapter 26. Backup and Restore"), "Chapter 26. Backup and Restore");
  EXPECT_EQ(TypedTitle("3.14."), "3.14.");
  EXPECT_EQ(TypedTitle(""), "");
}

TEST(TitleQueriesTest, TakesTitlesOfTheRightLengthThatNameOnePage) {
  const std::vector<TitledPage> pages = {
      {"u:1", "one", "s"},
      {"u:2", "two words", "s"},
      {"u:3", "a b c d e f", "s"},
      {"u:4", "Same Title", "s"},
      {"u:5", "same title", "t"},
      {"u:6", "1.2. Three Words Here", "t"},
      {"u:7", "3.4. Same title", "t"},
  };
  const KnownItems items = TitleQueries(pages, {});
  EXPECT_EQ(TextsOf(items), (std::vector<std::string>{"Three Words Here", "two words"}));
  EXPECT_EQ(items.judgments.at("u:2"), (Judgments{{"u:2", 1}}));
  EXPECT_EQ(items.judgments.size(), 2u);
}

TEST(TitleQueriesTest, DrawsTheSameFewOfEachSite) {
  std::vector<TitledPage> pages;
  for (int i = 0; i < 200; ++i) {
    pages.push_back({neptune::StrCat("u:", i), neptune::StrCat("page ", i), i < 150 ? "s" : "t"});
  }
  const TitleQueryOptions options{.per_site_count_max = 20};
  const std::vector<std::string> drawn = TextsOf(TitleQueries(pages, options));
  EXPECT_EQ(drawn.size(), 40u);
  std::reverse(pages.begin(), pages.end());
  EXPECT_EQ(TextsOf(TitleQueries(pages, options)), drawn);
  pages.push_back({"u:new", "a new page", "s"});
  const std::vector<std::string> then = TextsOf(TitleQueries(pages, options));
  std::vector<std::string> kept;
  std::set_intersection(drawn.begin(), drawn.end(), then.begin(), then.end(),
                        std::back_inserter(kept));
  EXPECT_GE(kept.size(), 39u);
  EXPECT_NE(TextsOf(TitleQueries(pages, {.per_site_count_max = 20, .seed = 2})), then);
}

TEST(TitleQueriesTest, ReadsPagesAndSkipsBadLines) {
  const std::string path = testing::TempDir() + "/pages.jsonl";
  std::ofstream(path) << R"({"url":"u:1","title":"A title","site":"s","text":"t"})"
                      << "\nbad\n"
                      << R"({"id":7,"title":"Other","text":"t"})"
                      << "\n";
  const auto pages = ReadTitledPages(path);
  ASSERT_TRUE(pages.ok()) << pages.status();
  ASSERT_EQ(pages->size(), 2u);
  EXPECT_EQ((*pages)[0].site, "s");
  EXPECT_EQ((*pages)[1].url, "7");
}

}  // namespace
}  // namespace search::tools
