#include "tools/build_index/link_texts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace search::tools {
namespace {

std::string LinesOf(const std::vector<std::string>& texts, const LinkTextOptions& options) {
  LinkTexts collected;
  for (const std::string& text : texts) collected.Add(text, options);
  return collected.Lines(options);
}

TEST(LinkTextsTest, KeepsEachTextOnceInTheOrderOfTheFirstLinks) {
  EXPECT_EQ(LinesOf({"b", "a", "b", "", "c\nd", "a"}, {.copies_max = 1}), "b\na\n");
  EXPECT_EQ(LinesOf({}, {}), "");
}

TEST(LinkTextsTest, WritesATextOfManyLinksMoreOftenAndFirst) {
  const LinkTextOptions options = {.copies_max = 3};
  EXPECT_EQ(LinesOf({"one", "two", "four", "two", "four", "four", "four"}, options),
            "four\nfour\nfour\ntwo\ntwo\none\n");
  std::vector<std::string> many(1000, "many");
  EXPECT_EQ(LinesOf(many, options), "many\nmany\nmany\n");
}

TEST(LinkTextsTest, KeepsTheEarliestWithinItsLimits) {
  EXPECT_EQ(LinesOf({"a", "b", "c", "a"}, {.count_max = 2, .copies_max = 1}), "a\nb\n");
  EXPECT_EQ(LinesOf({"aaaa", "bbbb", "c"}, {.size_max = 8, .copies_max = 1}), "aaaa\nc\n");
  EXPECT_EQ(LinesOf({"aaaa", "aaaa"}, {.size_max = 8, .copies_max = 2}), "aaaa\n");
}

}  // namespace
}  // namespace search::tools
