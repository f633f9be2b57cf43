#include "neptune/wire/http/http_syntax.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

TEST(HttpSyntaxTest, TokensAreNotEmptyAndHaveNoSeparators) {
  for (const char* const token : {"GET", "X-Api-Key", "a!#$%&'*+-.^_`|~9"}) {
    EXPECT_TRUE(IsHttpToken(token)) << token;
  }
  for (const char* const text : {"", "a b", "a:", "(a)", "a\x7f", "\xc3\xa4", "a\t"}) {
    EXPECT_FALSE(IsHttpToken(text)) << text;
  }
}

TEST(HttpSyntaxTest, HostsAreNamesOrAddressesWithAPort) {
  for (const char* const host : {"", "x", "x:", "x:80", "search.example", "a_b", "10.0.0.1:8080",
                                 "[::1]", "[::1]:80", "xn--a", "a%20b", "x,y"}) {
    EXPECT_TRUE(IsHttpHost(host)) << host;
  }
  for (const char* const text :
       {"a b", "a/b", "http://a", "user@a", "a:b", "a:80:80", "[::1", "[]", "[::1]x", "::1", "a?b",
        "a#b", "a\"", "a\\b", "<a>", "a\x01", "\xc3\xa4"}) {
    EXPECT_FALSE(IsHttpHost(text)) << text;
  }
}

TEST(HttpSyntaxTest, NamesOfOthersAreNotLocal) {
  for (const char* const host :
       {"localhost", "LocalHost:80", "127.0.0.1", "127.0.0.1:9100", "10.1.2.3:80", "[::1]:80"}) {
    EXPECT_TRUE(IsAddressOrLocalHost(host)) << host;
  }
  for (const char* const host :
       {"", ":80", "evil.example", "localhost.evil.example", "notlocalhost",
        "127.0.0.1.evil.example", "a1", "localhost@evil.example", "1.2.x"}) {
    EXPECT_FALSE(IsAddressOrLocalHost(host)) << host;
  }
}

}  // namespace
}  // namespace neptune
