// Tests documents in each format and the base of absolute links, over HTTP in a simulated cluster.

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "frontend/testing/simulated_search.h"

namespace search::frontend {
namespace {

using neptune::HttpResponse;
using nlohmann::json;

TEST(FrontendPagesTest, ADocumentIsRenderedAsHtmlOrJson) {
  SimulatedSearch search(18);
  const TimedResponse data = search.Get("/doc/4?format=json");
  EXPECT_EQ(data.http.headers.Get("Content-Type"), "application/json");
  EXPECT_EQ(json::parse(data.http.body)["id"], "4");
  EXPECT_NE(json::parse(data.http.body)["text"].get<std::string>().find("Text of document 4"),
            std::string::npos);
  EXPECT_EQ(search.Get("/doc/4", {{"Accept", "application/json"}}).http.body, data.http.body);
  const TimedResponse page = search.Get("/doc/4");
  EXPECT_TRUE(page.http.headers.Get("Content-Type").starts_with("text/html"));
  EXPECT_EQ(page.http.headers.Get("Vary"), "Accept, Accept-Encoding");
  EXPECT_EQ(
      search.Get("/doc/x?format=json", {{"Accept", "text/html"}}).http.headers.Get("Content-Type"),
      "application/problem+json");
}

TEST(FrontendPagesTest, AnswersAreCompressedForClientsThatAcceptIt) {
  SimulatedSearch search(18);
  const std::string target = "/search?q=common&format=json&count=20";
  const TimedResponse plain = search.Get(target);
  EXPECT_FALSE(plain.http.headers.Has("Content-Encoding"));
  EXPECT_TRUE(json::accept(plain.http.body));
  for (const auto& [accepted, coding, begin] :
       {std::array{"gzip, deflate, br", "gzip", "\x1f\x8b"},
        std::array{"gzip;q=0.5, zstd", "zstd", "\x28\xb5\x2f\xfd"}}) {
    const TimedResponse response = search.Get(target, {{"Accept-Encoding", accepted}});
    EXPECT_EQ(response.http.headers.Get("Content-Encoding"), coding);
    EXPECT_EQ(response.http.headers.Get("Vary"), "Accept, Accept-Encoding");
    EXPECT_TRUE(response.http.body.starts_with(begin));
    EXPECT_LT(response.http.body.size(), plain.http.body.size() / 2);
  }
  EXPECT_EQ(search.Get(target, {{"Accept-Encoding", "identity;q=0"}}).http.status, 406);
}

TEST(FrontendPagesTest, WhatDoesNotChangeIsConfirmed) {
  SimulatedSearch search(18);
  for (const char* path : {"/", "/help", "/openapi.json", "/robots.txt", "/favicon.ico"}) {
    const HttpResponse first = search.Get(path, {{"Accept-Encoding", "gzip"}}).http;
    EXPECT_EQ(first.status, 200) << path;
    EXPECT_EQ(first.headers.Get("Vary"), "Accept-Encoding") << path;
    const std::string tag(first.headers.Get("ETag"));
    const HttpResponse again =
        search.Get(path, {{"Accept-Encoding", "gzip"}, {"If-None-Match", tag}}).http;
    EXPECT_EQ(again.status, 304) << path;
    EXPECT_EQ(again.body, "") << path;
    EXPECT_EQ(again.headers.Get("Content-Security-Policy"),
              first.headers.Get("Content-Security-Policy"))
        << path;
    EXPECT_EQ(search.Get(path, {{"If-None-Match", "\"other\""}}).http.status, 200) << path;
  }
}

TEST(FrontendPagesTest, ADocumentKeepsItsStructureAndMarksTheWordsAsked) {
  SimulatedSearch search(18);
  const std::string page = search.Get("/doc/4?q=common").http.body;
  EXPECT_NE(page.find("<h2 dir=\"auto\">Text of document 4</h2>"), std::string::npos) << page;
  EXPECT_NE(page.find("<mark id=\"m1\">common</mark>"), std::string::npos) << page;
  EXPECT_EQ(search.Get("/doc/4").http.body.find("<mark"), std::string::npos);
  EXPECT_EQ(search.Get("/doc/4?q=%22").http.status, 200);
}

TEST(FrontendPagesTest, PagesForPeopleFoldSimilarResults) {
  SimulatedSearch search(18);
  const auto ids = [](const std::string& body) {
    std::vector<std::string> all;
    const json answer = json::parse(body);
    for (const auto& result : answer["results"]) all.push_back(result["id"]);
    return all;
  };
  const std::string plain = search.Get("/search?q=common&format=json&count=3").http.body;
  EXPECT_EQ(json::parse(plain)["covered_count"], 3);
  const std::string body = search.Get("/search?q=common&format=json&count=3&fold=1").http.body;
  const json folded = json::parse(body);
  // The fake documents 0 and 1 are near-duplicates.
  EXPECT_EQ(folded["covered_count"], 4) << body;
  EXPECT_EQ(folded["results"].size(), 3u);
  EXPECT_EQ(folded["results"][0]["similar"].size(), 1u);
  EXPECT_FALSE(folded["results"][2]["snippet"].get<std::string>().empty());
  // The next page begins after all that the first one covers, and a cached answer is the same.
  const std::string next = folded["links"]["next"];
  EXPECT_NE(next.find("start=4"), std::string::npos) << next;
  const auto four = ids(search.Get("/search?q=common&format=json&count=4").http.body);
  ASSERT_EQ(four.size(), 4u);
  EXPECT_EQ(ids(body), (std::vector<std::string>{four[0], four[2], four[3]}));
  EXPECT_EQ(
      json::parse(search.Get("/search?q=common&format=json&count=3&fold=1").http.body)["results"],
      folded["results"]);
  const std::string html = search.Get("/search?q=common&count=3").http.body;
  EXPECT_NE(html.find("1 similar page"), std::string::npos);
  EXPECT_EQ(search.Get("/search?q=common&count=3&fold=0").http.body.find("similar page"),
            std::string::npos);
}

TEST(FrontendPagesTest, ProxyHeadersDoNotAffectLinks) {
  SimulatedSearch search(18);
  const std::string description =
      search
          .Get("/opensearch.xml", {{"X-Forwarded-Proto", "https"},
                                   {"X-Forwarded-Host", "evil.test"},
                                   {"Forwarded", "proto=https;host=evil.test"}})
          .http.body;
  EXPECT_EQ(description.find("https://"), std::string::npos);
  EXPECT_EQ(description.find("evil.test"), std::string::npos);
}

TEST(FrontendPagesTest, TheBaseUrlBeginsAllAbsoluteLinks) {
  SimulatedSearch search(18, "parameters { key: 'base_url' value: 'https://given.test' }");
  for (const char* path :
       {"/opensearch.xml", "/search?q=common&format=atom", "/search?q=common&format=rss"}) {
    const std::string body = search.Get(path).http.body;
    EXPECT_NE(body.find("https://given.test/"), std::string::npos) << path;
    EXPECT_EQ(body.find("search.test"), std::string::npos) << path;
  }
}

}  // namespace
}  // namespace search::frontend
