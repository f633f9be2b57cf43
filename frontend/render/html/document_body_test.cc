#include "frontend/render/html/document_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace search::frontend::html {
namespace {

std::string BodyOf(const CachedDocument& document) {
  MarkupWriter html(MarkupWriter::Syntax::kHtml);
  DocumentBody(document, document.text).Write(html);
  return html.Take();
}

std::string BodyOf(const std::string& text, const std::string& structure,
                   const std::vector<TextRange>& matches = {}) {
  return BodyOf({.doc_id = "1",
                 .title = "Title",
                 .text = text,
                 .structure = structure,
                 .matches = matches,
                 .query = "q"});
}

TEST(DocumentBodyTest, StructureBecomesElements) {
  EXPECT_EQ(BodyOf("Name\na <b>", "B4/1p1b3/1/"),
            "<h2 dir=\"auto\">Name</h2><p dir=\"auto\">a<strong> &lt;b</strong>&gt;</p>");
}

TEST(DocumentBodyTest, ListsTablesAndCode) {
  EXPECT_EQ(BodyOf("a\nb", "ul1/1l1//"), "<ul><li dir=\"auto\">a</li><li dir=\"auto\">b</li></ul>");
  EXPECT_EQ(BodyOf("T\na\nb", "TK1/1Rh=2 1//1Rx/x1///"),
            "<div class=\"table-scroll\"><table><caption>T</caption><tbody>"
            "<tr><th scope=\"col\" colspan=\"2\">a</th></tr><tr><td></td><td>b</td></tr>"
            "</tbody></table></div>");
  EXPECT_EQ(BodyOf("if\n  x\n\ny", "c9/"), "<pre dir=\"ltr\">if\n  x\n\ny</pre>");
}

TEST(DocumentBodyTest, HeadersOfTablesSayWhatTheyHead) {
  EXPECT_EQ(BodyOf("a b", "TRh1/1x1///"),
            "<div class=\"table-scroll\"><table aria-label=\"Table\"><tbody><tr>"
            "<th scope=\"row\">a</th><td>b</td></tr></tbody></table></div>");
  EXPECT_EQ(BodyOf("a", "TRx1///"),
            "<div class=\"table-scroll\"><table role=\"presentation\"><tbody><tr>"
            "<td>a</td></tr></tbody></table></div>");
}

TEST(DocumentBodyTest, LinesInsideAnElementAreKept) {
  EXPECT_EQ(BodyOf("a\nb", "p3/"), "<p dir=\"auto\">a<br>b</p>");
  EXPECT_EQ(BodyOf("a\nb\nc", "ulb1/1i1/1p1///"),
            "<ul><li dir=\"auto\"><strong>a</strong><br><em>b</em><p dir=\"auto\">c</p></li></ul>");
}

TEST(DocumentBodyTest, LevelsOfHeadingsAreNotSkipped) {
  EXPECT_EQ(BodyOf("a\nb\nc", "D1/1F1/1A1/"),
            "<h2 dir=\"auto\">a</h2><h3 dir=\"auto\">b</h3><h2 dir=\"auto\">c</h2>");
}

TEST(DocumentBodyTest, AHeadingLikeTheTitleIsNotShownTwice) {
  EXPECT_EQ(BodyOf("Title\nx", "A5/1p1/", {{0, 5}, {6, 1}}),
            "<p dir=\"auto\"><mark id=\"m1\">x</mark></p>");
}

TEST(DocumentBodyTest, LinksLeadToCachedCopiesAndToTheWeb) {
  EXPECT_EQ(BodyOf("a b c", "pa=17 1/1a=https://e.org/ 1/1a=doc:x 1//"),
            "<p dir=\"auto\"><a href=\"/doc/17?q=q\">a</a> <a href=\"https://e.org/\" "
            "rel=\"noopener nofollow\" class=\"outside\">b</a> c</p>");
}

TEST(DocumentBodyTest, TextWithoutAFittingStructureIsShownByLines) {
  for (const char* structure : {"", "p", "p99/", "s<script>", "pa=javascript:x 1//"}) {
    EXPECT_EQ(BodyOf("a <b>\n\nc", structure),
              "<p dir=\"auto\">a &lt;b&gt;</p><p dir=\"auto\">c</p>")
        << structure;
  }
}

TEST(DocumentBodyTest, MarksLeadToTheirNeighbours) {
  EXPECT_EQ(BodyOf("cat a cat", "p9/", {{0, 3}, {6, 3}}),
            "<p dir=\"auto\"><mark id=\"m1\">cat</mark><span class=\"steps\"><a href=\"#m2\" "
            "aria-label=\"Next match\">›</a></span> a <mark id=\"m2\">cat</mark><span "
            "class=\"steps\"><a href=\"#m1\" aria-label=\"Previous match\">‹</a></span></p>");
}

TEST(DocumentBodyTest, AMarkOverTwoElementsHasOneName) {
  EXPECT_EQ(BodyOf("catfish", "pb3/4/", {{0, 7}}),
            "<p dir=\"auto\"><strong><mark id=\"m1\">cat</mark></strong><mark>fish</mark></p>");
}

TEST(DocumentBodyTest, MarksInALinkAreFollowedAfterIt) {
  EXPECT_EQ(BodyOf("cat cat x", "pa=1 7/2/", {{0, 3}, {4, 3}, {8, 1}}),
            "<p dir=\"auto\"><a href=\"/doc/1?q=q\"><mark id=\"m1\">cat</mark> <mark "
            "id=\"m2\">cat</mark></a><span class=\"steps\"><a href=\"#m3\" aria-label=\"Next "
            "match\">›</a></span> <mark id=\"m3\">x</mark><span class=\"steps\"><a href=\"#m2\" "
            "aria-label=\"Previous match\">‹</a></span></p>");
}

TEST(DocumentBodyTest, MatchesThatDoNotFitAreLeftOut) {
  EXPECT_EQ(BodyOf("abc", "", {{5, 1}, {1, 0}, {2, 9}, {0, 1}, {0, 2}, {4294967295u, 2}}),
            "<p dir=\"auto\"><mark id=\"m1\">a</mark>bc</p>");
}

TEST(DocumentBodyTest, TheStructureOfATextThatIsCutEndsWithIt) {
  const CachedDocument document = {
      .doc_id = "1", .title = "T", .text = "ab\ncd\nef", .structure = "ul2/1lp2///1p2/"};
  MarkupWriter html(MarkupWriter::Syntax::kHtml);
  DocumentBody(document, std::string_view(document.text).substr(0, 4)).Write(html);
  EXPECT_EQ(html.Take(),
            "<ul><li dir=\"auto\">ab</li><li dir=\"auto\"><p dir=\"auto\">c</p></li></ul>");
}

}  // namespace
}  // namespace search::frontend::html
