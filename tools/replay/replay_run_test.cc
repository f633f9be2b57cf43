#include "tools/replay/replay_run.h"

#include <gtest/gtest.h>

namespace search::tools {
namespace {

TEST(ParseTargetTest, FrontendsAreAskedInTurn) {
  const auto address = ParseTarget("http://127.0.0.1:8080/,http://localhost:8081");
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_TRUE(address->is_http);
  ASSERT_EQ(address->servers.size(), 2u);
  EXPECT_EQ(address->servers[0].ToString(), "127.0.0.1:8080");
  EXPECT_EQ(address->servers[1].port, 8081);
}

TEST(ParseTargetTest, NodesAreNamedWithServicePartitionAndMethod) {
  const auto address = ParseTarget("neptune://127.0.0.1:7001,127.0.0.1:7002/tier1/3/Search");
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_FALSE(address->is_http);
  EXPECT_EQ(address->servers.size(), 2u);
  EXPECT_EQ(address->service, "tier1");
  EXPECT_EQ(address->partition, 3u);
  EXPECT_EQ(address->method, "Search");
}

TEST(ParseTargetTest, OtherTextIsRefused) {
  for (const char* text : {"", "http://", "https://127.0.0.1:1", "http://127.0.0.1",
                           "http://host:80", "neptune://127.0.0.1:1", "neptune://127.0.0.1:1/s/x/M",
                           "neptune:///s/0/M", "neptune://127.0.0.1:1//0/M"}) {
    EXPECT_FALSE(ParseTarget(text).ok()) << text;
  }
}

TEST(LiveLineTest, ShowsRatesAndPercentilesSinceTheLastLine) {
  const LoadProgress before{.now_ns = 10'000'000'000, .sent_count = 9000, .answered_count = 9000};
  const LoadProgress now{.now_ns = 12'000'000'000,
                         .sent_count = 11'000,
                         .done_count = 10'990,
                         .answered_count = 10'988,
                         .in_flight_count = 10};
  EXPECT_EQ(LiveLine(before, now, 60, {{.done_ns = 1'500'000}}),
            "  12 s of 60 s  1,000/s sent  994/s answered  p50 1.50 ms  p99 1.50 ms  10 in flight  "
            "2 lost");
}

}  // namespace
}  // namespace search::tools
