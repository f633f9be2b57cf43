#include "frontend/documents/html_content.h"

#include <gtest/gtest.h>

#include <string>

#include "index/updates/document_change.h"

namespace search::frontend {
namespace {

using neptune::StatusCode;

DocumentEdit EditOf(std::string html, const std::string& title = "") {
  DocumentEdit edit{.doc_id = 1, .content = index::DocumentContent(), .html = std::move(html)};
  edit.content->set_url("http://a/");
  edit.content->set_title(title);
  return edit;
}

constexpr char kPage[] =
    "<html><head><title>Cats</title></head><body><nav>Home</nav><main><h1>On cats</h1>"
    "<p>A cat <b>sat</b>.</p><script>alert(1)</script></main></body></html>";

TEST(HtmlContentTest, TextAndTitleAreThoseOfThePage) {
  DocumentEdit edit = EditOf(kPage);
  ASSERT_TRUE(ReadHtmlContent(&edit).ok());
  EXPECT_EQ(edit.content->text(), "On cats\nA cat sat.");
  EXPECT_EQ(edit.content->title(), "Cats");
  EXPECT_FALSE(edit.html.has_value());
}

TEST(HtmlContentTest, TheStructureKeepsLinksToTheWeb) {
  DocumentEdit edit = EditOf(
      "<h1>On</h1><p><a href='https://e.org/'>a</a> <a href=b.html>b</a> "
      "<a href='javascript:x()'>c</a>");
  ASSERT_TRUE(ReadHtmlContent(&edit).ok());
  EXPECT_EQ(edit.content->structure(), "A2/1pa=https://e.org/ 1/4/");
}

TEST(HtmlContentTest, AGivenTitleIsKept) {
  DocumentEdit edit = EditOf(kPage, "Given");
  ASSERT_TRUE(ReadHtmlContent(&edit).ok());
  EXPECT_EQ(edit.content->title(), "Given");
}

TEST(HtmlContentTest, AnEditWithoutAPageIsUnchanged) {
  DocumentEdit removal{.doc_id = 1, .content = std::nullopt};
  EXPECT_TRUE(ReadHtmlContent(&removal).ok());
  EXPECT_FALSE(removal.content.has_value());
}

TEST(HtmlContentTest, OversizedPagesAreRefused) {
  std::string deep = "<body>";
  for (int i = 0; i < 2000; ++i) deep += "<div>";
  DocumentEdit edit = EditOf(deep + "text");
  EXPECT_EQ(ReadHtmlContent(&edit).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(edit.content->text().empty());
}

}  // namespace
}  // namespace search::frontend
