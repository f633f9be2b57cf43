#include "index/html/document_structure.h"

#include <string>

#include "gtest/gtest.h"
#include "index/html/html_reader.h"

namespace search::html {
namespace {

// The page's structure with every link leading to document 7.
std::string StructureOf(const std::string& html) {
  auto page = ReadHtml(html);
  EXPECT_TRUE(page.ok()) << page.status();
  ResolveTargets([](const std::string&) { return "7"; }, &page->structure);
  const std::string encoded = EncodeStructure(page->structure);
  const auto parsed = ParseStructure(encoded, page->text);
  EXPECT_TRUE(parsed.ok()) << parsed.status() << " in " << encoded;
  EXPECT_TRUE(!parsed.ok() || *parsed == page->structure) << encoded;
  return encoded;
}

std::string ErrorOf(const std::string& encoded, const std::string& text) {
  return std::string(ParseStructure(encoded, text).status().message());
}

TEST(DocumentStructureTest, HeadingsParagraphsAndInlineElements) {
  // NAME\ngit add - <b>Add</b> <code>file</code>s
  EXPECT_EQ(StructureOf("<h2>NAME</h2><p>git add - <b>Add</b> <code>file</code>s</p>"),
            "B4/1p10b3/1m4/1/");
  EXPECT_EQ(StructureOf("<span class='mw-geshi cpp'>int x</span>"), "pm5//");
}

TEST(DocumentStructureTest, ListsTablesAndCode) {
  EXPECT_EQ(StructureOf("<ul><li>a<li>b<ol><li>c</ol></ul>"), "ul1/1l2ol1////");
  EXPECT_EQ(StructureOf("<table><caption>T</caption><tr><th colspan=2>H<tr><td><td>x</table>"),
            "TK1/1Rh=2 1//Rx/1x1///");
  EXPECT_EQ(StructureOf("<pre>a\n\n  b</pre><dl><dt>t<dd>d</dl>"), "c6/1dt1/1e1//");
}

TEST(DocumentStructureTest, TextBetweenBlocksIsAParagraph) {
  EXPECT_EQ(StructureOf("<div>one</div><div>two<br>three</div>"), "p3/1p9/");
  EXPECT_EQ(StructureOf("<ul>loose<li>a<p>b</p>c</ul>"), "ul5/1l2p1/1p1///");
}

TEST(DocumentStructureTest, EmptyElementsLeaveNoTrace) {
  EXPECT_EQ(StructureOf("<p></p><ul><li></li></ul><a href=x></a><p>a<b></b>"), "p1/");
}

TEST(DocumentStructureTest, BlocksInsideALineAreLeftOut) {
  EXPECT_EQ(StructureOf("<b><ul><li>a</ul></b>"), "pb1//");
  EXPECT_EQ(StructureOf("<a href=x>a<div>b</div></a>"), "pa=7 3//");
}

TEST(DocumentStructureTest, DeepListsStayWithinTheLimits) {
  std::string html = "<p>x";
  for (int i = 0; i < 100; ++i) html += "<ul><li>a<table><tr><td>b";
  const std::string encoded = StructureOf(html);
  EXPECT_LT(encoded.size(), 1000u);
}

TEST(DocumentStructureTest, ElementsBeyondTheLimitAreLeftOut) {
  std::string html = "<ul>";
  for (size_t i = 0; i < StructureLimits::kElementsMax; ++i) html += "<li>a";
  const auto page = ReadHtml(html);
  const std::string encoded = EncodeStructure(page->structure);
  const auto parsed = ParseStructure(encoded, page->text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->size(), 2 * StructureLimits::kElementsMax);
}

TEST(DocumentStructureTest, RemovedLinksKeepTheirContent) {
  auto page = ReadHtml("<p><a href=x>a <b>b</b></a> <a href=y>c</a>");
  ResolveTargets(
      [](const std::string& target) {
        return target == "y" ? std::optional<std::string>("https://e.org/") : std::nullopt;
      },
      &page->structure);
  EXPECT_EQ(EncodeStructure(page->structure), "p2b1/1a=https://e.org/ 1//");
}

TEST(DocumentStructureTest, RefusesWhatCouldHarm) {
  EXPECT_TRUE(ParseStructure("", "text").ok());
  EXPECT_NE(ErrorOf("p4", "text"), "");
  EXPECT_NE(ErrorOf("p5/", "text"), "");
  EXPECT_NE(ErrorOf("/", "text"), "");
  EXPECT_NE(ErrorOf("p1p1//", "text"), "");
  EXPECT_NE(ErrorOf("u1/", "text"), "");
  EXPECT_NE(ErrorOf("l1/", "text"), "");
  EXPECT_NE(ErrorOf("p1/", "\xC3\xA9"), "");
  EXPECT_NE(ErrorOf("p=x 1/", "text"), "");
  EXPECT_NE(ErrorOf("p000000001/", "text"), "");
  EXPECT_NE(ErrorOf("p99999999999/", "text"), "");
  EXPECT_NE(ErrorOf("pa=7 1a=7 1///", "text"), "");
  for (const char* target : {"", "javascript:alert(1)", "data:text/html,x", "//evil", "http://",
                             "https:///x", "JavaScript:x", "x\ty", "http://a\\b", "1x"}) {
    EXPECT_NE(ErrorOf("pa=" + std::string(target) + " 4//", "text"), "") << target;
  }
  EXPECT_EQ(ErrorOf("pa=https://e.org/?a=1 4//", "text"), "");
  EXPECT_EQ(ErrorOf("pa=doc:git/x.html 4//", "text"), "");
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += 'q';
  deep += '4';
  for (int i = 0; i < 40; ++i) deep += '/';
  EXPECT_NE(ErrorOf(deep, "text"), "");
}

}  // namespace
}  // namespace search::html
