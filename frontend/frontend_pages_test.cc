// What absolute links begin with, over HTTP in a simulated cluster.

#include <gtest/gtest.h>

#include <string>

#include "frontend/testing/simulated_search.h"

namespace search::frontend {
namespace {

TEST(FrontendPagesTest, NoHeaderOfAProxySaysWhatLinksBeginWith) {
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

TEST(FrontendPagesTest, AnAddressThatIsGivenBeginsAllAbsoluteLinks) {
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
