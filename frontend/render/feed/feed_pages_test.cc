#include "frontend/render/feed/feed_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "frontend/render/samples/samples.h"
#include "frontend/render/samples/xml_check.h"

namespace search::frontend {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

std::unique_ptr<XmlDocument> Parsed(const std::string& xml) {
  auto document = XmlDocument::Parse(xml);
  EXPECT_TRUE(document.ok()) << document.status() << "\n" << xml;
  return document.ok() ? *std::move(document) : nullptr;
}

TEST(FeedPagesTest, RssHasItemsAndOpenSearchElements) {
  const auto rss = Parsed(feed::RssFeed(samples::DeepAnswer(), Site{}));
  ASSERT_NE(rss, nullptr);
  EXPECT_EQ(rss->Value("/rss/@version"), "2.0");
  EXPECT_EQ(rss->Value("/rss/channel/os:totalResults"), "18400");
  EXPECT_EQ(rss->Value("/rss/channel/os:startIndex"), "220");
  EXPECT_EQ(rss->Value("/rss/channel/os:itemsPerPage"), "10");
  EXPECT_EQ(rss->Value("/rss/channel/os:Query/@searchTerms"), "hash table iterator");
  EXPECT_EQ(rss->Value("/rss/channel/link"),
            "http://127.0.0.1:8080/search?q=hash+table+iterator&start=220");
  EXPECT_THAT(rss->Values("/rss/channel/item/title"), SizeIs(5));
  EXPECT_EQ(rss->Value("/rss/channel/item[1]/link"), "http://127.0.0.1:8080/doc/4711");
  EXPECT_EQ(rss->Value("/rss/channel/item[2]/link"),
            "https://docs.python.org/3.11/library/collections.abc.html");
  EXPECT_THAT(rss->Value("/rss/channel/item[1]/description"), HasSubstr("the <b>hash</b> of"));
}

TEST(FeedPagesTest, AtomHasWhatRfc4287Requires) {
  const auto atom = Parsed(feed::AtomFeed(samples::DeepAnswer(), Site{}));
  ASSERT_NE(atom, nullptr);
  EXPECT_EQ(atom->Value("/atom:feed/atom:updated"), "2026-03-01T09:30:00Z");
  EXPECT_EQ(atom->Value("/atom:feed/atom:author/atom:name"), "Neptune Search");
  EXPECT_THAT(atom->Value("/atom:feed/atom:id"), StartsWith("http://127.0.0.1:8080/search?"));
  EXPECT_EQ(atom->Value("/atom:feed/os:totalResults"), "18400");
  EXPECT_EQ(atom->Value("/atom:feed/atom:link[@rel='next']/@href"),
            "http://127.0.0.1:8080/search?q=hash+table+iterator&start=230&format=atom");
  EXPECT_THAT(atom->Values("/atom:feed/atom:entry/atom:id"), SizeIs(5));
  EXPECT_THAT(atom->Values("/atom:feed/atom:entry/atom:updated"), SizeIs(5));
  EXPECT_THAT(atom->Values("/atom:feed/atom:entry/atom:link/@href"), SizeIs(5));
}

TEST(FeedPagesTest, PartialFeedSaysSoFirst) {
  const SearchAnswer answer = samples::PartialAnswer();
  EXPECT_THAT(Parsed(feed::RssFeed(answer, Site{}))->Value("/rss/channel/description"),
              StartsWith("Incomplete: at least 731 results; searched 6 of 8 partitions"));
  EXPECT_THAT(Parsed(feed::AtomFeed(answer, Site{}))->Value("/atom:feed/atom:subtitle"),
              StartsWith("Incomplete: "));
}

TEST(FeedPagesTest, ACorrectedFeedSaysSo) {
  const auto page = RenderAnswer(samples::CorrectedAnswer(), PageFormat::kAtom, {});
  EXPECT_NE(page.body.find("Results for hash table iterator instead of hahs tabel iterator"),
            std::string::npos);
}

TEST(FeedPagesTest, HostileAnswersStayWellFormed) {
  const SearchAnswer answer = samples::HostileAnswer();
  const auto rss = Parsed(feed::RssFeed(answer, Site{}));
  const auto atom = Parsed(feed::AtomFeed(answer, Site{}));
  ASSERT_TRUE(rss && atom);
  EXPECT_THAT(rss->Values("//item"), SizeIs(answer.results.size()));
  EXPECT_THAT(rss->Values("//item/link"), Each(StartsWith("http")));
  EXPECT_THAT(atom->Values("//atom:entry/atom:link/@href"), SizeIs(answer.results.size()));
  EXPECT_THAT(atom->Values("//atom:entry/atom:summary"), Each(Not(HasSubstr("<script"))));
}

TEST(FeedPagesTest, DescriptionNamesTheFormats) {
  const auto description = Parsed(feed::OpenSearchDescription(Site{}));
  ASSERT_NE(description, nullptr);
  EXPECT_EQ(description->Value("/os:OpenSearchDescription/os:ShortName"), "Neptune Search");
  EXPECT_THAT(description->Values("//os:Url/@type"),
              ElementsAre("text/html", "application/rss+xml", "application/atom+xml",
                          "application/json", "application/x-suggestions+json"));
  EXPECT_EQ(description->Value("//os:Url[@rel='suggestions']/@template"),
            "http://127.0.0.1:8080/suggest?q={searchTerms}");
  EXPECT_EQ(description->Value("//os:Url[1]/@template"),
            "http://127.0.0.1:8080/search?q={searchTerms}");
  EXPECT_EQ(description->Value("//os:Url[2]/@indexOffset"), "0");
}

TEST(FeedPagesTest, ProblemsAreXml) {
  const auto problem = Parsed(feed::ProblemDocument(samples::HostileError()));
  ASSERT_NE(problem, nullptr);
  EXPECT_EQ(problem->Value("/problem:problem/problem:status"), "400");
}

TEST(FeedPagesTest, CheckerRefusesWhatIsNotXml) {
  for (const char* bad : {"<a>", "<a b=c/>", "<a>&nbsp;</a>", "<a>\x01</a>", "<a/><b/>", ""}) {
    EXPECT_FALSE(XmlDocument::Parse(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace search::frontend
