#include "tools/evaluate/known_items.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using neptune::StrCat;

std::vector<std::string> TextsOf(const std::vector<KnownItem>& items, ItemKind kind) {
  std::vector<std::string> texts;
  for (const KnownItem& item : items) {
    if (item.kind == kind) texts.push_back(StrCat(item.url, " ", item.text));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

TEST(KnownItemsTest, KeysKeepWordsWithLetters) {
  EXPECT_EQ(NameKey("9.16. JSON  Functions"), "json functions");
  EXPECT_EQ(NameKey("std::vector<T>"), "std vector t");
  EXPECT_EQ(NameKey("pg_stat \xE2\x80\x94 utf8"), "pg_stat utf8");
  EXPECT_EQ(NameKey("Caf\xC3\xA9\xC2\xA0"
                    "bar"),
            "caf\xC3\xA9 bar");
  EXPECT_EQ(NameKey("3.2 (1)"), "");
}

TEST(KnownItemsTest, ShortNamesEndAtTheDescription) {
  EXPECT_EQ(ShortName("json \xE2\x80\x94 JSON encoder and decoder"), "json");
  EXPECT_EQ(ShortName("ls - list directory contents - LS(1)"), "ls");
  EXPECT_EQ(ShortName("git-stash(1) Manual Page"), "git-stash");
  EXPECT_EQ(ShortName("std::swap(std::pair)"), "std::swap(std::pair)");
  EXPECT_EQ(ShortName("20.4. Resource Consumption"), "Resource Consumption");
  EXPECT_EQ(ShortName(""), "");
}

TEST(KnownItemsTest, AsksTextsThatNameOnePageByAnotherNameThanItsTitle) {
  const std::vector<NamedPage> pages = {
      {"u:1", "json - JSON encoder", "s", {"Basic Usage"}, {"Encoder of text", "next"}},
      {"u:2", "re - Expressions", "s", {"Module contents ()"}, {"next", "Basic  usage"}},
      {"u:3", "Index", "s", {"Section 9.1"}, {"Section 9.2", "INDEX", "a/b.html"}},
      {"u:4", "Section 7", "s", {"one two three four five six seven"}, {}},
      {"u:5", "Other", "s", {}, {"json"}},
      {"u:6", "io - Streams", "s", {}, {}},
      {"u:7", "io - Other streams", "s", {}, {}},
  };
  const std::vector<KnownItem> items = DrawKnownItems(pages, {});
  EXPECT_EQ(TextsOf(items, ItemKind::kLink), (std::vector<std::string>{"u:1 Encoder of text"}));
  EXPECT_EQ(TextsOf(items, ItemKind::kHeading), (std::vector<std::string>{"u:2 Module contents"}));
  // A link elsewhere does not take a name away.
  EXPECT_EQ(TextsOf(items, ItemKind::kName), (std::vector<std::string>{"u:1 json", "u:2 re"}));
  EXPECT_EQ(KeysOf(items).at("u:2"), (std::set<std::string>{"module contents", "re"}));
}

TEST(KnownItemsTest, DrawsTheSameItemsAndHalvesWhateverTheOrder) {
  std::vector<NamedPage> pages;
  for (int i = 0; i < 200; ++i) {
    const std::string letter(1, static_cast<char>('a' + i % 26));
    const std::string word = letter + std::string(1 + static_cast<size_t>(i / 26), 'x');
    pages.push_back({StrCat("u:", i),
                     StrCat("title ", word),
                     i < 150 ? "s" : "t",
                     {"about " + word},
                     {"on " + word, "see " + word}});
  }
  const KnownItemOptions options = {.per_site_count_max = 20};
  const std::vector<KnownItem> items = DrawKnownItems(pages, options);
  EXPECT_EQ(TextsOf(items, ItemKind::kLink).size(), 40U);
  EXPECT_EQ(TextsOf(items, ItemKind::kHeading).size(), 40U);
  const auto chosen = std::count_if(items.begin(), items.end(),
                                    [](const KnownItem& item) { return item.is_development; });
  EXPECT_GT(chosen, 20);
  EXPECT_LT(chosen, 60);
  std::reverse(pages.begin(), pages.end());
  const std::vector<KnownItem> again = DrawKnownItems(pages, options);
  EXPECT_EQ(TextsOf(again, ItemKind::kLink), TextsOf(items, ItemKind::kLink));
  EXPECT_EQ(TextsOf(again, ItemKind::kHeading), TextsOf(items, ItemKind::kHeading));
  EXPECT_NE(TextsOf(DrawKnownItems(pages, {.per_site_count_max = 20, .seed = 7}), ItemKind::kLink),
            TextsOf(items, ItemKind::kLink));
}

}  // namespace
}  // namespace search::tools
