// Keys of pages, and which pages stay: validity is decided by others.

#include "frontend/caching/page_cache.h"

#include <gtest/gtest.h>

#include "frontend/caching/page_key.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::StrCat;

constexpr char kTarget[] = "/search?q=hash+map&format=json";

CachedPage PageOf(std::string query, size_t body_size = 1000) {
  CachedPage page;
  page.facts.question.query = std::move(query);
  page.body = std::make_shared<const std::string>(body_size, 'x');
  return page;
}

std::string KeyOf(const PageAsk& ask, bool has_fixed_address = false) {
  std::string key;
  WritePageKey(ask, has_fixed_address, &key);
  return key;
}

TEST(PageKeyTest, DependsOnWhatTheBodyDependsOn) {
  const PageAsk ask = {.target = kTarget, .host = "a.example", .accept = "text/html"};
  const std::string key = KeyOf(ask);
  const auto with = [&](auto change) {
    PageAsk other = ask;
    change(other);
    return KeyOf(other);
  };
  EXPECT_EQ(key, KeyOf(ask));
  EXPECT_NE(key, with([](PageAsk& o) { o.target = "/search?q=hash+map&format=json&start=10"; }));
  EXPECT_NE(key, with([](PageAsk& o) { o.target = "/search?q=hash+map&format=html"; }));
  EXPECT_NE(key, with([](PageAsk& o) { o.accept_encoding = "gzip"; }));
  EXPECT_EQ(key, with([](PageAsk& o) { o.accept = "application/json"; })) << "the format is given";
  EXPECT_EQ(key, with([](PageAsk& o) { o.host = "b.example"; })) << "JSON has no absolute links";
  EXPECT_EQ(key, with([](PageAsk& o) { o.service_class = "gold"; }));
  EXPECT_EQ(key, with([](PageAsk& o) { o.traceparent = "00-1-2-01"; }));
}

TEST(PageKeyTest, AcceptDecidesByTheFormatThatItSelects) {
  PageAsk ask = {.target = "/search?q=a", .accept = "text/html,application/xhtml+xml"};
  const std::string html = KeyOf(ask);
  ask.accept = "text/html;q=0.9";
  EXPECT_EQ(KeyOf(ask), html);
  ask.accept = "application/json";
  EXPECT_NE(KeyOf(ask), html);
}

TEST(PageKeyTest, FeedsDependOnTheAddressThatTheirLinksBeginWith) {
  PageAsk ask = {.target = "/search?q=a&format=rss", .host = "a.example"};
  const std::string key = KeyOf(ask);
  const std::string fixed = KeyOf(ask, /*has_fixed_address=*/true);
  ask.host = "b.example";
  EXPECT_NE(KeyOf(ask), key);
  EXPECT_EQ(KeyOf(ask, /*has_fixed_address=*/true), fixed);
}

TEST(PageKeyTest, NoHeaderCanPretendToBeAnother) {
  const PageAsk split = {.target = "/search?q=a", .accept_encoding = "gzip"};
  const PageAsk joined = {.target = "/search?q=a", .host = "gzip"};
  EXPECT_NE(KeyOf(split), KeyOf(joined));
}

TEST(PageKeyTest, HeadersAreTakenByNameInAnyCase) {
  neptune::HttpRequest request;
  request.target = kTarget;
  request.headers.Add("host", "h");
  request.headers.Add("ACCEPT", "a");
  request.headers.Add("Accept-Encoding", "gzip");
  request.headers.Add("Cache-Control", "no-cache");
  request.headers.Add("X-Api-Key", "k");
  request.headers.Add("Neptune-Service-Class", "gold");
  request.headers.Add("Accept-Language", "en");
  request.headers.Add("X-Forwarded-For", "10.0.0.1");
  request.headers.Add("x-forwarded-for", "10.0.0.2");
  const PageAsk ask = PageAskOf(request);
  EXPECT_EQ(ask.target, kTarget);
  EXPECT_EQ(ask.parameters(), "q=hash+map&format=json");
  EXPECT_EQ(ask.host, "h");
  EXPECT_EQ(ask.accept, "a");
  EXPECT_EQ(ask.accept_encoding, "gzip");
  EXPECT_EQ(ask.cache_control, "no-cache");
  EXPECT_EQ(ask.api_key, "k");
  EXPECT_EQ(ask.service_class, "gold");
  EXPECT_EQ(ask.traceparent, "");
  EXPECT_EQ(ask.forwarded_for, "10.0.0.1");
  EXPECT_FALSE(ask.repeats_header) << "proxies may add themselves in a header of their own";
}

TEST(PageKeyTest, ARequestThatRepeatsAHeaderSaysSo) {
  neptune::HttpRequest request;
  request.target = kTarget;
  request.headers.Add("Accept-Encoding", "identity");
  request.headers.Add("X-Other", "a");
  request.headers.Add("X-Other", "b");
  EXPECT_FALSE(PageAskOf(request).repeats_header);
  request.headers.Add("accept-encoding", "gzip");
  const PageAsk ask = PageAskOf(request);
  EXPECT_EQ(ask.accept_encoding, "identity");
  EXPECT_TRUE(ask.repeats_header);
}

TEST(PageKeyTest, AClientThatRefusesIdentityHasPagesOfItsOwn) {
  PageAsk ask = {.target = kTarget, .accept_encoding = "gzip"};
  const std::string key = KeyOf(ask);
  ask.accept_encoding = "gzip;q=0.5, identity;q=0.1";
  EXPECT_EQ(KeyOf(ask), key);
  ask.accept_encoding = "gzip, identity;q=0";
  EXPECT_NE(KeyOf(ask), key);
}

TEST(PageCacheTest, FindsThePageOfTheKey) {
  PageCache cache({});
  EXPECT_EQ(cache.Find("a"), nullptr);
  ASSERT_TRUE(cache.Insert("a", PageOf("first")));
  ASSERT_TRUE(cache.Insert("b", PageOf("second")));
  ASSERT_NE(cache.Find("a"), nullptr);
  EXPECT_EQ(cache.Find("a")->facts.question.query, "first");
  ASSERT_TRUE(cache.Insert("a", PageOf("newer")));
  EXPECT_EQ(cache.Find("a")->facts.question.query, "newer");
  EXPECT_EQ(cache.stats().page_count, 2u);
  cache.Erase("a");
  EXPECT_EQ(cache.Find("a"), nullptr);
  cache.Erase("a");
  EXPECT_EQ(cache.stats().page_count, 1u);
}

TEST(PageCacheTest, APageIsLookedAtWithoutBeingUsed) {
  PageCache cache({.hash_seed = 5});
  const PageName name = cache.NameOf("a");
  EXPECT_EQ(cache.Look(name), nullptr);
  cache.NoteUse(name);
  ASSERT_TRUE(cache.Insert("a", PageOf("first")));
  ASSERT_NE(cache.Look(name), nullptr);
  EXPECT_EQ(cache.Look(name), cache.Find("a"));
  EXPECT_EQ(cache.Look({.key = "b", .hash = name.hash}), nullptr) << "the key decides";
  cache.NoteUse({.key = "b", .hash = name.hash});
  EXPECT_EQ(cache.TakeHottest(1).at(0).use_count, 1u);
  cache.NoteUse(name);
  cache.NoteUse(name);
  EXPECT_EQ(cache.TakeHottest(1).at(0).use_count, 2u);
}

TEST(PageCacheTest, IsBoundedInBytes) {
  PageCache cache({.size_max = 100'000});
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(cache.Insert(StrCat("page ", i), PageOf("q")));
  EXPECT_LE(cache.stats().size, 100'000u);
  EXPECT_EQ(cache.stats().page_count, 32u);
  EXPECT_EQ(cache.stats().eviction_count, 1000u - 32u);
}

TEST(PageCacheTest, RefusesWhatIsTooLargeAndForgetsTheOlderPage) {
  PageCache cache({.page_size_max = 10'000, .key_size_max = 10});
  ASSERT_TRUE(cache.Insert("a", PageOf("q")));
  EXPECT_FALSE(cache.Insert("a", PageOf("q", 10'000)));
  EXPECT_EQ(cache.Find("a"), nullptr);
  EXPECT_FALSE(cache.Insert("longer than ten", PageOf("q")));
  EXPECT_EQ(cache.stats().size, 0u);
}

TEST(PageCacheTest, AScanDoesNotEvictPopularPages) {
  PageCache cache({.size_max = 400'000});
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(cache.Insert(StrCat("popular ", i), PageOf("q")));
    cache.Find(StrCat("popular ", i));
    cache.Find(StrCat("popular ", i));
  }
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(cache.Insert(StrCat("scan ", i), PageOf("q")));
  int left = 0;
  for (int i = 0; i < 40; ++i) left += cache.Find(StrCat("popular ", i)) != nullptr;
  EXPECT_EQ(left, 40);
}

TEST(PageCacheTest, TheHottestQuestionsComeFirstAndFade) {
  PageCache cache({});
  for (const auto& [query, uses] : {std::pair{"rare", 1}, {"hot", 9}, {"warm", 4}, {"none", 0}}) {
    cache.Insert(query, PageOf(query));
    for (int i = 0; i < uses; ++i) cache.Find(query);
  }
  const std::vector<CountedQuestion> two = cache.TakeHottest(2);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].question.query, "hot");
  EXPECT_EQ(two[0].use_count, 9u);
  EXPECT_EQ(two[1].question.query, "warm");
  const std::vector<CountedQuestion> later = cache.TakeHottest(9);
  ASSERT_EQ(later.size(), 2u) << "one use fades";
  EXPECT_EQ(later[0].use_count, 4u);
}

TEST(PageCacheTest, APageThatIsReplacedKeepsItsUses) {
  PageCache cache({});
  cache.Insert("a", PageOf("q"));
  cache.Find("a");
  cache.Insert("a", PageOf("q"));
  EXPECT_EQ(cache.TakeHottest(1).at(0).use_count, 1u);
}

}  // namespace
}  // namespace search::frontend
