#include "tools/corpus/wikitext.h"

#include <gtest/gtest.h>

namespace search::tools {
namespace {

std::string Plain(std::string_view wikitext) {
  return ReadWikitext(wikitext, {"file", "category"}).text;
}

TEST(WikitextTest, KeepsTheWordsOfParagraphsListsAndHeadings) {
  EXPECT_EQ(
      Plain("A '''bold''' and ''slanted'' pear.\n\n\n* one\n# two\n: three\n\n== Use ==\nEat."),
      "A bold and slanted pear.\none\ntwo\nthree\nUse\nEat.");
  EXPECT_EQ(ReadWikitext("== Use & ''care'' ==\n=== Deeper ===\n=no heading\n", {}).headings,
            (std::vector<std::string>{"Use & care", "Deeper"}));
}

TEST(WikitextTest, TakesTheWordsAndTargetsOfLinks) {
  const PlainWikitext page = ReadWikitext(
      "A [[pear tree|tall ''tree'']], [[Plum]]s, [[:a_b#part]] and [https://x.org/ a page] "
      "[https://y.org].",
      {"file"});
  EXPECT_EQ(page.text, "A tall tree, Plums, :a_b#part and a page .");
  ASSERT_EQ(page.links.size(), 3u);
  EXPECT_EQ(page.links[0].target, "Pear tree");
  EXPECT_EQ(page.links[0].text, "tall tree");
  EXPECT_EQ(page.links[1].target, "Plum");
  EXPECT_EQ(page.links[2].target, "A b");
}

TEST(WikitextTest, LeavesOutTemplatesTablesReferencesAndPictures) {
  EXPECT_EQ(Plain("a{{x|{{y}}|z}}b"), "ab");
  EXPECT_EQ(Plain("a\n{| class=x\n| {{y|}} || {|\n|n\n|}\n|}\nb"), "a\nb");
  EXPECT_EQ(Plain("a<ref name=x>said <b>so</b></ref>b<ref name=x/>c"), "abc");
  EXPECT_EQ(Plain("a[[File:x.png|thumb|a [[pear]] tree]]b[[Category:Fruit]]"), "ab");
  EXPECT_EQ(Plain("a<!-- [[b]] -->c<math>x^2</math>d __TOC__ e<span class=x>f</span>"), "acd ef");
}

TEST(WikitextTest, WhatIsNeverClosedEndsWithItsParagraph) {
  EXPECT_EQ(Plain("a {{x\ny\n\nb"), "a\nb");
  EXPECT_EQ(Plain("a <ref>x\n\nb"), "a\nb");
  EXPECT_EQ(Plain("a <!-- x\n\nb"), "a\nb");
  EXPECT_EQ(Plain("a [[x\nb"), "a x\nb");
  EXPECT_EQ(Plain("1 < 2 and [3]"), "1 < 2 and [3]");
}

TEST(WikitextTest, DecodesCharacters) {
  EXPECT_EQ(DecodeEntities("a&amp;b&lt;&#233;&#xE9;&ndash;&nbsp;&bogus;&#0;&#x110000;&;&"),
            "a&b<\u00E9\u00E9\u2013 &bogus;&#0;&#x110000;&;&");
}

TEST(WikitextTest, TakesLinearTimeForWhatIsOpenedManyTimes) {
  for (const char* const open : {"{{", "{|\n", "<ref>", "<!--", "[[", "[[File:", "[http://",
                                 "==", "''", "__A", "&", "<a "}) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += open;
    EXPECT_LE(ReadWikitext(text, {"file"}).text.size(), text.size()) << open;
  }
}

}  // namespace
}  // namespace search::tools
