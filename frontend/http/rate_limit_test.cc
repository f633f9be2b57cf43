#include "frontend/http/rate_limit.h"

#include <gtest/gtest.h>

namespace search::frontend {
namespace {

using neptune::Duration;
using neptune::HttpRequest;
using neptune::TimePoint;
using std::chrono::milliseconds;
using std::chrono::seconds;

TimePoint At(Duration since) { return TimePoint(seconds(100)) + since; }

// Number of `count` simultaneous requests that are admitted.
int Admitted(RateLimit& limit, uint64_t client, int count, TimePoint at) {
  int admitted = 0;
  for (int i = 0; i < count; ++i) admitted += limit.Refuse(client, at) ? 0 : 1;
  return admitted;
}

TEST(RateLimitTest, WithoutARateEverythingIsAdmitted) {
  RateLimit limit({});
  EXPECT_EQ(Admitted(limit, 1, 1000, At(seconds(0))), 1000);
  EXPECT_EQ(limit.client_count(), 0u);
}

TEST(RateLimitTest, ABurstThenTheRate) {
  RateLimit limit({.per_second = 10, .burst = 5});
  EXPECT_EQ(Admitted(limit, 1, 100, At(seconds(0))), 5);
  EXPECT_EQ(Admitted(limit, 1, 100, At(milliseconds(300))), 3);
  EXPECT_EQ(Admitted(limit, 1, 100, At(seconds(100))), 5);
}

TEST(RateLimitTest, ReturnsTheTimeUntilTheNextToken) {
  RateLimit limit({.per_second = 0.5, .burst = 1});
  EXPECT_FALSE(limit.Refuse(1, At(seconds(0))));
  const auto wait = limit.Refuse(1, At(seconds(0)));
  ASSERT_TRUE(wait);
  EXPECT_EQ(*wait, seconds(2));
  EXPECT_TRUE(limit.Refuse(1, At(milliseconds(1900))));
  EXPECT_FALSE(limit.Refuse(1, At(milliseconds(2000))));
}

TEST(RateLimitTest, ClientsHaveSeparateBuckets) {
  RateLimit limit({.per_second = 1, .burst = 2});
  EXPECT_EQ(Admitted(limit, 1, 10, At(seconds(0))), 2);
  EXPECT_EQ(Admitted(limit, 2, 10, At(seconds(0))), 2);
}

TEST(RateLimitTest, FurtherClientsShareOneBucketUntilAnotherIsDropped) {
  RateLimit limit({.per_second = 1, .burst = 2, .client_count_max = 3});
  for (uint64_t client = 0; client < 3; ++client) limit.Refuse(client, At(seconds(0)));
  int admitted = 0;
  for (uint64_t client = 3; client < 100; ++client) {
    admitted += limit.Refuse(client, At(seconds(0))) ? 0 : 1;
  }
  EXPECT_EQ(admitted, 2);
  EXPECT_EQ(limit.client_count(), 3u);
  EXPECT_FALSE(limit.Refuse(100, At(seconds(10))));
  EXPECT_EQ(limit.client_count(), 1u);
}

TEST(ClientOfTest, AKnownKeyIsTheClientElseTheAddress) {
  HttpRequest one;
  one.peer.address = 1;
  HttpRequest other = one;
  other.peer.port = 99;
  EXPECT_EQ(ClientOf(one, false, false), ClientOf(other, false, false));
  other.peer.address = 2;
  EXPECT_NE(ClientOf(one, false, false), ClientOf(other, false, false));
  one.headers.Set("X-Api-Key", "k");
  other.headers.Set("X-Api-Key", "k");
  EXPECT_EQ(ClientOf(one, true, false), ClientOf(other, true, false));
  EXPECT_NE(ClientOf(one, false, false), ClientOf(other, false, false)) << "an unknown key";
}

TEST(ClientOfTest, ForwardedAddressesCountOnlyWhereTheyAreTrusted) {
  HttpRequest one;
  HttpRequest other;
  one.headers.Set("X-Forwarded-For", "1.1.1.1, 2.2.2.2");
  other.headers.Set("X-Forwarded-For", "3.3.3.3,2.2.2.2");
  EXPECT_EQ(ClientOf(one, false, true), ClientOf(other, false, true))
      << "the proxy appends the last address";
  other.headers.Set("X-Forwarded-For", "2.2.2.3");
  EXPECT_NE(ClientOf(one, false, true), ClientOf(other, false, true));
  EXPECT_EQ(ClientOf(one, false, false), ClientOf(other, false, false));
}

}  // namespace
}  // namespace search::frontend
