#include "frontend/model/search_request.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using std::chrono::milliseconds;

std::string_view WrongParameter(std::string_view parameters) {
  const auto request = ParseSearchRequest(parameters);
  return request.ok() ? std::string_view("(none)") : ParameterOf(request.status());
}

TEST(SearchRequestTest, HasDefaults) {
  const auto request = ParseSearchRequest("q=vector");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->query, "vector");
  EXPECT_EQ(request->start, 0u);
  EXPECT_EQ(request->count, 10u);
  EXPECT_EQ(request->format, PageFormat::kHtml);
}

TEST(SearchRequestTest, DecodesForms) {
  const auto request =
      ParseSearchRequest("q=a+b%2Bc%20%22d+e%22%C3%A9&start=20&count=5&format=atom");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->query, "a b+c \"d e\"é");
  EXPECT_EQ(request->start, 20u);
  EXPECT_EQ(request->count, 5u);
  EXPECT_EQ(request->format, PageFormat::kAtom);
}

TEST(SearchRequestTest, IgnoresUnknownParametersAndEmptyOnes) {
  const auto request = ParseSearchRequest("&&utm=%zz&q=x&=y&flag&q2=1&");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->query, "x");
}

TEST(SearchRequestTest, NamesTheWrongParameter) {
  EXPECT_EQ(WrongParameter("q=%zz"), "q");
  EXPECT_EQ(WrongParameter("q=%4"), "q");
  EXPECT_EQ(WrongParameter("q=%FF"), "q");
  EXPECT_EQ(WrongParameter("q=a&q=b"), "q");
  EXPECT_EQ(WrongParameter("q=x&start=-1"), "start");
  EXPECT_EQ(WrongParameter("q=x&start="), "start");
  EXPECT_EQ(WrongParameter("q=x&start=10001"), "start");
  EXPECT_EQ(WrongParameter("q=x&start=99999999999999999999"), "start");
  EXPECT_EQ(WrongParameter("q=x&count=0"), "count");
  EXPECT_EQ(WrongParameter("q=x&count=101"), "count");
  EXPECT_EQ(WrongParameter("q=x&count=1e1"), "count");
  EXPECT_EQ(WrongParameter("q=x&format=pdf"), "format");
  EXPECT_EQ(WrongParameter("q=x&explain=yes"), "explain");
  EXPECT_EQ(WrongParameter("q=x&facets=language"), "facets");
  EXPECT_EQ(WrongParameter("q=x&sort=size"), "sort");
  EXPECT_EQ(WrongParameter("q=x&sort=date&explain=1"), "explain");
  EXPECT_EQ(WrongParameter("q=x&fold=2"), "fold");
  EXPECT_EQ(WrongParameter("q=x%00y"), "q");
  EXPECT_EQ(WrongParameter("q=x&start=1%00"), "start");
  EXPECT_EQ(WrongParameter("q=x&first=10001"), "first");
  EXPECT_EQ(WrongParameter("format=json"), "q");
  EXPECT_EQ(WrongParameter("q=++&format=rss"), "q");
}

TEST(SearchRequestTest, TakesValuesAtTheLimits) {
  EXPECT_TRUE(ParseSearchRequest("q=x&start=10000&count=100").ok());
  EXPECT_TRUE(ParseSearchRequest("q=x&start=0&count=1").ok());
  EXPECT_TRUE(ParseSearchRequest("q=" + std::string(4096, 'x')).ok());
  EXPECT_EQ(WrongParameter("q=" + std::string(4097, 'x')), "q");
}

TEST(SearchRequestTest, RefusesTooLongOrTooManyParameters) {
  EXPECT_FALSE(ParseSearchRequest(std::string(16 * 1024 + 1, 'a')).ok());
  std::string many;
  for (int i = 0; i < 65; ++i) many += "a=1&";
  EXPECT_FALSE(ParseSearchRequest(many).ok());
}

TEST(SearchRequestTest, MissingQueryIsTheHomePage) {
  const auto request = ParseSearchRequest("q=+%09");
  ASSERT_TRUE(request.ok());
  EXPECT_FALSE(request->has_query());
}

TEST(SearchRequestTest, DetailsAreGivenIfAskedFor) {
  const auto plain = ParseSearchRequest("q=x&explain=0");
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_FALSE(plain->explain || plain->site_facets || plain->trace);
  const auto request = ParseSearchRequest("q=x&explain=1&facets=site");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_TRUE(request->explain && request->site_facets);
  EXPECT_EQ(SearchPath(*request), "/search?q=x&explain=1&facets=site");
  EXPECT_FALSE(ParseSearchRequest("q=x&sort=relevance")->by_date);
  EXPECT_TRUE(ParseSearchRequest("q=x&sort=date")->by_date);
  EXPECT_EQ(SearchPath({.query = "x", .by_date = true}), "/search?q=x&sort=date");
}

TEST(SearchRequestTest, RunningTextAndInsistingAreAskedFor) {
  const auto usual = ParseSearchRequest("q=x&syntax=query&relax=1");
  ASSERT_TRUE(usual.ok()) << usual.status();
  EXPECT_FALSE(usual->is_plain);
  EXPECT_TRUE(usual->may_relax);
  const auto request = ParseSearchRequest("q=x&relax=0&syntax=plain");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_TRUE(request->is_plain);
  EXPECT_FALSE(request->may_relax);
  EXPECT_EQ(SearchPath(*request), "/search?q=x&syntax=plain&relax=0");
  EXPECT_EQ(WrongParameter("q=x&syntax=Plain"), "syntax");
  EXPECT_EQ(WrongParameter("q=x&syntax=plain&syntax=query"), "syntax");
  EXPECT_EQ(WrongParameter("q=x&relax=2"), "relax");
}

TEST(SearchRequestTest, ATimeoutIsInMillisecondsOrHasAUnit) {
  EXPECT_EQ(ParseSearchRequest("q=x")->timeout, milliseconds(0));
  EXPECT_EQ(ParseSearchRequest("q=x&timeout=1")->timeout, milliseconds(1));
  EXPECT_EQ(ParseSearchRequest("q=x&timeout=500")->timeout, milliseconds(500));
  EXPECT_EQ(ParseSearchRequest("q=x&timeout=500ms")->timeout, milliseconds(500));
  EXPECT_EQ(ParseSearchRequest("q=x&timeout=2s")->timeout, milliseconds(2000));
  EXPECT_EQ(ParseSearchRequest("q=x&timeout=600s")->timeout, milliseconds(600'000));
  EXPECT_EQ(SearchPath({.query = "x", .timeout = milliseconds(2000)}), "/search?q=x&timeout=2000");
  for (const char* wrong : {"", "0", "0s", "ms", "s", "-1", "+5", "1.5s", "5m", "5 ms", "601s",
                            "600001", "99999999999s", "5sms"}) {
    EXPECT_EQ(WrongParameter(neptune::StrCat("q=x&timeout=", wrong)), "timeout") << wrong;
  }
}

TEST(SearchRequestTest, AcceptHeaderIsAHint) {
  EXPECT_EQ(ParseSearchRequest("q=x", "application/json")->format, PageFormat::kJson);
  EXPECT_EQ(ParseSearchRequest("q=x", "text/plain, application/rss+xml;q=0.9")->format,
            PageFormat::kRss);
  EXPECT_EQ(ParseSearchRequest("q=x", "text/html,application/json")->format, PageFormat::kHtml);
  EXPECT_EQ(ParseSearchRequest("q=x", "*/*")->format, PageFormat::kHtml);
  EXPECT_EQ(ParseSearchRequest("q=x&format=atom", "application/json")->format, PageFormat::kAtom);
}

TEST(SearchRequestTest, PreferredFormatSurvivesWrongRequests) {
  EXPECT_EQ(PreferredFormat("q=%zz&format=json"), PageFormat::kJson);
  EXPECT_EQ(PreferredFormat("format=pdf", "application/atom+xml"), PageFormat::kAtom);
  EXPECT_EQ(PreferredFormat(""), PageFormat::kHtml);
}

TEST(SearchRequestTest, PathParsesBack) {
  const SearchPageRequest request{.query = "c++ \"a&b\" é%",
                                  .start = 30,
                                  .count = 15,
                                  .format = PageFormat::kRss,
                                  .fold = true,
                                  .first = 17};
  const std::string path = SearchPath(request);
  const auto parsed = ParseSearchRequest(path.substr(path.find('?') + 1));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->query, request.query);
  EXPECT_EQ(parsed->start, request.start);
  EXPECT_EQ(parsed->count, request.count);
  EXPECT_EQ(parsed->format, request.format);
  EXPECT_EQ(parsed->fold, request.fold);
  EXPECT_EQ(parsed->first, request.first);
}

TEST(SearchRequestTest, PagesForPeopleFold) {
  EXPECT_TRUE(ParseSearchRequest("q=x")->folds());
  EXPECT_FALSE(ParseSearchRequest("q=x&fold=0")->folds());
  EXPECT_FALSE(ParseSearchRequest("q=x&format=json")->folds());
  EXPECT_TRUE(ParseSearchRequest("q=x&format=json&fold=1")->folds());
}

}  // namespace
}  // namespace search::frontend
