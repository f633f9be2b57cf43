#include "frontend/site.h"

#include <gtest/gtest.h>

#include <string>

namespace search::frontend {
namespace {

std::string BaseUrl(std::string_view host) { return BaseUrlFromHost(host, "fallback"); }

TEST(SiteTest, TakesWellFormedHosts) {
  EXPECT_EQ(BaseUrl("search.example:8080"), "http://search.example:8080");
  EXPECT_EQ(BaseUrl("127.0.0.1"), "http://127.0.0.1");
  EXPECT_EQ(BaseUrl("[::1]:80"), "http://[::1]:80");
}

TEST(SiteTest, FallsBackForAnythingElse) {
  for (const char* host : {"", ":80", "a:b", "a:", "a:0", "a:65536", "a/evil", "a@evil", "a\"b",
                           "a b", "[::1", "[]:80", "a:80:80", "<script>", "a\r\nb"}) {
    EXPECT_EQ(BaseUrl(host), "fallback") << host;
  }
  EXPECT_EQ(BaseUrl(std::string(kHostSizeMax + 1, 'a')), "fallback");
}

}  // namespace
}  // namespace search::frontend
