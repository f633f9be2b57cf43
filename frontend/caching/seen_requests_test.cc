#include "frontend/caching/seen_requests.h"

#include <gtest/gtest.h>

#include <string>

#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::StrCat;

PageAsk AskFor(std::string_view target) {
  return {.target = target, .host = "h", .accept = "a", .accept_encoding = "gzip"};
}

SeenRequest SeenAs(std::string page) {
  return {.page = {.key = std::move(page), .hash = 7}, .client = {.number = 2, .name = "gold"}};
}

TEST(SeenRequestsTest, FindsWhatWasRemembered) {
  SeenRequests seen({});
  EXPECT_EQ(seen.Find(AskFor("/a")), nullptr);
  seen.Remember(AskFor("/a"), SeenAs("page"));
  const SeenRequest* const found = seen.Find(AskFor("/a"));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->page.key, "page");
  EXPECT_EQ(found->page.hash, 7u);
  EXPECT_EQ(found->client.name, "gold");
  EXPECT_EQ(seen.Find(AskFor("/b")), nullptr);
  seen.Remember(AskFor("/a"), SeenAs("newer"));
  EXPECT_EQ(seen.Find(AskFor("/a"))->page.key, "newer");
  EXPECT_EQ(seen.count(), 1u);
}

TEST(SeenRequestsTest, EveryPartThatDecidesIsCompared) {
  SeenRequests seen({});
  const PageAsk ask = AskFor("/a");
  seen.Remember(ask, SeenAs("page"));
  const auto finds = [&](auto change) {
    PageAsk other = ask;
    change(other);
    return seen.Find(other) != nullptr;
  };
  EXPECT_FALSE(finds([](PageAsk& o) { o.host = "i"; }));
  EXPECT_FALSE(finds([](PageAsk& o) { o.accept = "b"; }));
  EXPECT_FALSE(finds([](PageAsk& o) { o.accept_encoding = "zstd"; }));
  EXPECT_FALSE(finds([](PageAsk& o) { o.api_key = "key"; }));
  EXPECT_FALSE(finds([](PageAsk& o) { o.service_class = "gold"; }));
  EXPECT_FALSE(finds([](PageAsk& o) { o.host = "", o.accept = "ha"; })) << "parts do not merge";
  EXPECT_TRUE(finds([](PageAsk& o) { o.traceparent = "00-1-2-01"; }));
  EXPECT_TRUE(finds([](PageAsk& o) { o.cache_control = "max-age=0"; }));
  EXPECT_TRUE(finds([](PageAsk& o) { o.forwarded_for = "10.0.0.1"; }));
}

TEST(SeenRequestsTest, IsBoundedInBytes) {
  SeenRequests seen({.size_max = 100'000});
  size_t size_max = 0;
  for (int i = 0; i < 10'000; ++i) {
    seen.Remember(AskFor(StrCat("/search?q=", i)), SeenAs(StrCat("page ", i)));
    size_max = std::max(size_max, seen.size());
  }
  EXPECT_LE(size_max, 100'000u);
  EXPECT_GT(size_max, 80'000u);
  EXPECT_LE(seen.count(), 100'000 / kSeenOverhead);
  EXPECT_NE(seen.Find(AskFor("/search?q=9999")), nullptr);
  EXPECT_EQ(seen.Find(AskFor("/search?q=0")), nullptr);
}

TEST(SeenRequestsTest, WhatIsFoundStays) {
  SeenRequests seen({.size_max = 20'000});
  seen.Remember(AskFor("/popular"), SeenAs("page"));
  for (int i = 0; i < 1000; ++i) {
    seen.Remember(AskFor(StrCat("/rare/", i)), SeenAs("other"));
    if (i % 10 == 0) {
      ASSERT_NE(seen.Find(AskFor("/popular")), nullptr) << i;
    }
  }
  EXPECT_EQ(seen.Find(AskFor("/popular"))->page.key, "page");
}

TEST(SeenRequestsTest, WhatIsRememberedAgainCountsOnce) {
  SeenRequests seen({.size_max = 20'000});
  for (int i = 0; i < 1000; ++i) seen.Remember(AskFor("/a"), SeenAs("page"));
  EXPECT_EQ(seen.count(), 1u);
  EXPECT_LT(seen.size(), 400u);
  for (int i = 0; i < 30; ++i) seen.Remember(AskFor(StrCat("/", i)), SeenAs("page"));
  for (int i = 0; i < 1000; ++i) seen.Remember(AskFor("/a"), SeenAs("page"));
  EXPECT_EQ(seen.count(), 31u);
}

TEST(SeenRequestsTest, WhatIsTooLargeIsNotRemembered) {
  SeenRequests seen({.size_max = 4000, .entry_size_max = 1000});
  const std::string target(800, 'x');
  seen.Remember(AskFor(target), SeenAs("page"));
  EXPECT_EQ(seen.Find(AskFor(target)), nullptr);
  SeenRequests tiny({.size_max = 300});
  tiny.Remember(AskFor("/a"), SeenAs("page"));
  EXPECT_EQ(tiny.size(), 0u);
}

}  // namespace
}  // namespace search::frontend
