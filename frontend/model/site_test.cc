#include "frontend/model/site.h"

#include <gtest/gtest.h>

#include <string>

namespace search::frontend {
namespace {

std::string BaseUrl(std::string_view host) { return BaseUrlFromHost("http", host, "fallback"); }

TEST(SiteTest, TakesWellFormedHosts) {
  EXPECT_EQ(BaseUrl("search.example:8080"), "http://search.example:8080");
  EXPECT_EQ(BaseUrl("127.0.0.1"), "http://127.0.0.1");
  EXPECT_EQ(BaseUrl("[::1]:80"), "http://[::1]:80");
}

TEST(SiteTest, TheSchemeIsTheConnections) {
  EXPECT_EQ(BaseUrlFromHost("https", "search.example", "fallback"), "https://search.example");
}

TEST(SiteTest, RecognisesBaseUrls) {
  for (const char* url : {"http://a", "https://search.example", "https://[::1]:8443"}) {
    EXPECT_TRUE(IsBaseUrl(url)) << url;
  }
  for (const char* url :
       {"", "a", "https://", "https://a/", "https://a/path", "ftp://a", "HTTPS://a", "https://a:0",
        "https://u@a", "https://a\"", "javascript:a"}) {
    EXPECT_FALSE(IsBaseUrl(url)) << url;
  }
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
