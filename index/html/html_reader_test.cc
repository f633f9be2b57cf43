#include "index/html/html_reader.h"

#include <string>

#include "gtest/gtest.h"

namespace search::html {
namespace {

HtmlPage Read(const std::string& html) {
  auto page = ReadHtml(html);
  EXPECT_TRUE(page.ok()) << page.status();
  return page.ok() ? *page : HtmlPage();
}

std::string Repeat(const std::string& piece, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += piece;
  return out;
}

TEST(HtmlReaderTest, TitleIsCollapsedAndDecoded) {
  EXPECT_EQ(Read("<title>\n A &amp;  B&#8212;C </title><p>x").title, "A & B—C");
}

TEST(HtmlReaderTest, FirstHeadingStandsInForAMissingTitle) {
  EXPECT_EQ(Read("<body><h2>Maps</h2><p>text").title, "Maps");
}

TEST(HtmlReaderTest, ParagraphsAndRowsGetLinesOfTheirOwn) {
  const HtmlPage page =
      Read("<p>one <b>two</b>\n three<p>four<br>five<table><tr><td>a<td>b<tr><td>c</table>end");
  EXPECT_EQ(page.text, "one two three\nfour\nfive\na b\nc\nend");
}

TEST(HtmlReaderTest, PreformattedTextKeepsLinesAndIndentation) {
  EXPECT_EQ(Read("<pre>int f() {\n  return 1;\n}\n\nint g();</pre>").text,
            "int f() {\n  return 1;\n}\n\nint g();");
}

TEST(HtmlReaderTest, WordsOfDifferentElementsAreNotGlued) {
  const HtmlPage page = Read(
      "<td><a href=l.html><span class=t-lines><span>laguerre</span><span>laguerref</span>"
      "<span>laguerrel</span></span></a><p><a href=a>one</a><a href=b>two</a>"
      "<p>left<img src=x>right<p>a<button>press</button>b<p>x<div style='display: block'>y</div>");
  EXPECT_EQ(page.text, "laguerre laguerref laguerrel\none two\nleft right\na b\nx\ny");
  ASSERT_EQ(page.links.size(), 3u);
  EXPECT_EQ(page.links[0].text, "laguerre laguerref laguerrel");
}

TEST(HtmlReaderTest, LinesInsideAHeadingOrALinkAreWordsOfItsText) {
  const HtmlPage page = Read("<h2>Big<br>maps</h2><a href=x><div>first</div><div>second</div></a>");
  EXPECT_EQ(page.headings, std::vector<std::string>{"Big maps"});
  EXPECT_EQ(page.links[0].text, "first second");
}

TEST(HtmlReaderTest, PartsOfAWordStayTogether) {
  EXPECT_EQ(Read("<p><b>doc</b>ument <code>gzip</code>ped log<sub>10</sub> 4<sup>th</sup> "
                 "<span class=n>std</span><span class=n>vector</span> super<wbr>long "
                 "x<script>y()</script>z")
                .text,
            "document gzipped log10 4th stdvector superlong xz");
}

TEST(HtmlReaderTest, ExponentsAndFootnotesAreWordsOfTheirOwn) {
  EXPECT_EQ(Read("<p>2<sup>64</sup> values<sup><a href=#f>1</a></sup>").text, "2 64 values 1");
}

TEST(HtmlReaderTest, ScriptsStylesAndHiddenPartsAreLeftOut) {
  EXPECT_EQ(Read("<p>a<script>x()</script><style>b{}</style><p hidden>c<p style='display:none'>d"
                 "<p>e")
                .text,
            "a\ne");
}

TEST(HtmlReaderTest, NavigationIsLeftOutWithItsLinks) {
  const HtmlPage page = Read(
      "<nav><a href=n.html>next</a></nav><div class='related x'><a href=u.html>up</a></div>"
      "<p>see <a href=o.html>other</a></p><div role=navigation>more</div>");
  EXPECT_EQ(page.text, "see other");
  ASSERT_EQ(page.links.size(), 1u);
  EXPECT_EQ(page.links[0].href, "o.html");
  EXPECT_EQ(page.links[0].text, "other");
}

TEST(HtmlReaderTest, MainPartIsPreferredToTheBody) {
  EXPECT_EQ(Read("<p>banner<main><p>content</main><p>colophon").text, "content");
  EXPECT_EQ(Read("<p>banner<div role=main>content</div>").text, "content");
}

TEST(HtmlReaderTest, EmptyMainPartFallsBackToTheBody) {
  EXPECT_EQ(Read("<p>banner<main></main>").text, "banner");
}

TEST(HtmlReaderTest, HeadingsComeInOrderWithoutPermalinks) {
  const HtmlPage page =
      Read("<h1>One<a class=headerlink href='#one'>¶</a></h1><h3>Two <code>x</code></h3>");
  EXPECT_EQ(page.headings, (std::vector<std::string>{"One", "Two x"}));
}

TEST(HtmlReaderTest, FragmentsAndAnchorsWithoutTargetAreNoLinks) {
  EXPECT_TRUE(Read("<a href='#top'>top</a><a name=x>y</a><a href=''>z</a>").links.empty());
}

TEST(HtmlReaderTest, MetaRefreshIsARedirect) {
  EXPECT_TRUE(Read("<meta http-equiv=Refresh content='0; URL=other.html'>").is_redirect);
  EXPECT_FALSE(Read("<meta http-equiv=refresh content=60><p>news").is_redirect);
}

TEST(HtmlReaderTest, DeclaredWindows1252IsDecoded) {
  EXPECT_EQ(Read("<meta charset=\"iso-8859-1\"><p>caf\xE9 \x93x\x94").text, "café “x”");
}

TEST(HtmlReaderTest, InvalidUtf8BecomesReplacementCharacters) {
  EXPECT_EQ(Read("<p>a\xFF"
                 "b\xC3")
                .text,
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
}

TEST(HtmlReaderTest, EmptyInputIsAnEmptyPage) {
  const HtmlPage page = Read("");
  EXPECT_TRUE(page.title.empty());
  EXPECT_TRUE(page.text.empty());
}

TEST(HtmlReaderTest, DeepPageIsCutAndItsBeginningKept) {
  const HtmlPage page = Read("<p>start</p>" + Repeat("<div>", 200000) + "deep");
  EXPECT_TRUE(page.is_cut);
  EXPECT_EQ(page.text, "start");
}

TEST(HtmlReaderTest, ClosersThatCloseNothingDoNotHideDepth) {
  EXPECT_TRUE(Read(Repeat("<div></span>", 100000)).is_cut);
}

TEST(HtmlReaderTest, DepthHiddenInForeignContentIsFound) {
  EXPECT_TRUE(Read("<svg>" + Repeat("<style><g>", 100000)).is_cut);
  EXPECT_TRUE(Read("<svg><p>" + Repeat("<path/>", 100000)).is_cut);
}

TEST(HtmlReaderTest, TagWithManyAttributesIsCut) {
  std::string html = "<p>start<p";
  for (int i = 0; i < 200000; ++i) html += " a" + std::to_string(i);
  const HtmlPage page = Read(html + ">x");
  EXPECT_TRUE(page.is_cut);
  EXPECT_EQ(page.text, "start");
}

TEST(HtmlReaderTest, ManyBodyTagsAreCut) {
  std::string html;
  for (int i = 0; i < 100000; ++i) html += "<body a" + std::to_string(i) + ">";
  EXPECT_TRUE(Read(html).is_cut);
}

TEST(HtmlReaderTest, FormattingThatIsReopenedForeverIsRefusedOrRead) {
  std::string html;
  for (int i = 0; i < 400; ++i) html += "<font color=" + std::to_string(i) + ">";
  html += Repeat("<p>x", 100000);
  const auto page = ReadHtml(html);
  EXPECT_TRUE(page.ok() || page.status().code() == neptune::StatusCode::kResourceExhausted);
}

TEST(HtmlReaderTest, LongFlatPagesAreReadWhole) {
  const HtmlPage page = Read(Repeat("<p>word <i>x</i> <img src=a><li>y", 50000));
  EXPECT_FALSE(page.is_cut);
}

TEST(HtmlReaderTest, TextAndLinksAreBounded) {
  const HtmlPage page =
      Read(Repeat("<a href=b>0123456789012345678901234567890123456789</a> ", 120000));
  EXPECT_LE(page.text.size(), HtmlPageLimits::kTextSizeMax);
  EXPECT_EQ(page.links.size(), HtmlPageLimits::kLinksMax);
}

TEST(HtmlOutlineTest, QuotesCommentsAndScriptsHoldNoTags) {
  const std::string html = "<a title='<div><div>'><!-- <div> --><script>'<div>'</script></a>";
  EXPECT_EQ(BoundedHtmlSize(html, {.depth_max = 2}), html.size());
}

TEST(HtmlOutlineTest, CutsBeforeTheTagThatIsTooDeep) {
  EXPECT_EQ(BoundedHtmlSize("<div><div><div>x", {.depth_max = 2}), 10u);
}

TEST(HtmlOutlineTest, ManyUnclosedCommentsAndSectionsTakeLinearTime) {
  EXPECT_GT(BoundedHtmlSize(Repeat("<!-- -->", 200000)), 0u);
  EXPECT_GT(BoundedHtmlSize("<svg>" + Repeat("<![CDATA[", 200000)), 0u);
  EXPECT_GT(BoundedHtmlSize("<svg>" + Repeat("<title>", 200000)), 0u);
}

}  // namespace
}  // namespace search::html
