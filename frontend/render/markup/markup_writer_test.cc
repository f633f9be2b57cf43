#include "frontend/render/markup/markup_writer.h"

#include <gtest/gtest.h>

#include <string>

namespace search::frontend {
namespace {

using Syntax = MarkupWriter::Syntax;

std::string Escaped(std::string_view text) {
  MarkupWriter writer(Syntax::kHtml);
  writer.Text(text);
  return writer.Take();
}

std::string Anchor(std::string_view url) {
  MarkupWriter writer(Syntax::kHtml);
  writer.TextElement("a", "x", {{"href", url}});
  return writer.Take();
}

TEST(MarkupWriterTest, EscapesEveryCharacterThatMarkupUses) {
  EXPECT_EQ(Escaped("<b a=\"1\" c='2'>&amp;"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;");
}

TEST(MarkupWriterTest, EscapesAttributeValues) {
  MarkupWriter writer(Syntax::kHtml);
  writer.Empty("input", {{"value", "\"><script>alert(1)</script>"}});
  EXPECT_EQ(writer.Take(), "<input value=\"&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\">");
}

TEST(MarkupWriterTest, ReplacesControlCharactersAndBrokenUtf8) {
  using std::string_literals::operator""s;
  EXPECT_EQ(Escaped("a\0b"s),
            "a\xEF\xBF\xBD"s
            "b");
  EXPECT_EQ(Escaped("a\x1B[2Jb"), "a\xEF\xBF\xBD[2Jb");
  EXPECT_EQ(Escaped("\xC3("), "\xEF\xBF\xBD(");
  EXPECT_EQ(Escaped("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(Escaped("\xEF\xBF\xBF"), "\xEF\xBF\xBD");
  EXPECT_EQ(Escaped("\xC2\x85"), "\xEF\xBF\xBD");
}

TEST(MarkupWriterTest, KeepsTextOfAllScripts) {
  EXPECT_EQ(Escaped("naïve 日本語 𝄞\n\t"), "naïve 日本語 𝄞\n\t");
}

TEST(MarkupWriterTest, ElementClosesWhatItOpened) {
  MarkupWriter writer(Syntax::kXml);
  {
    Element outer(writer, "feed", {{"lang", "en"}});
    Element inner(writer, "entry");
    writer.Empty("link", {{"href", "/doc/7"}});
  }
  EXPECT_EQ(writer.Take(), "<feed lang=\"en\"><entry><link href=\"/doc/7\"/></entry></feed>");
}

TEST(MarkupWriterTest, WritesAttributesWithoutValueOnlyIfPresent) {
  MarkupWriter writer(Syntax::kHtml);
  writer.Empty("input", {{"required", true}, {"disabled", false}, {"size", 3}});
  EXPECT_EQ(writer.Take(), "<input required size=\"3\">");
}

TEST(MarkupWriterTest, LinksOnlyToSafeAddresses) {
  EXPECT_EQ(Anchor("https://example.org/?a=1&b=2"),
            "<a href=\"https://example.org/?a=1&amp;b=2\">x</a>");
  EXPECT_EQ(Anchor("/doc/12"), "<a href=\"/doc/12\">x</a>");
  for (const char* hostile :
       {"javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)",
        "java\tscript:alert(1)", "data:text/html,<script>alert(1)</script>", "vbscript:x",
        "//evil.example/", "/\\evil.example", "doc:pkg/index.html", "http:javascript:alert(1)",
        "https://", "https:///evil", "file:///etc/passwd", "", "\x01javascript:alert(1)",
        "http://a b/", "mailto:a@b"}) {
    EXPECT_EQ(Anchor(hostile), "<a>x</a>") << hostile;
  }
}

}  // namespace
}  // namespace search::frontend
