// Tests documents in each format and the base of absolute links, over HTTP in a simulated cluster.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "frontend/testing/simulated_search.h"

namespace search::frontend {
namespace {

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
  EXPECT_EQ(page.http.headers.Get("Vary"), "Accept");
  EXPECT_EQ(
      search.Get("/doc/x?format=json", {{"Accept", "text/html"}}).http.headers.Get("Content-Type"),
      "application/problem+json");
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
