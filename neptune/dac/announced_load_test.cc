// A node's load survives its announcement, and malformed text counts as none.

#include "neptune/dac/announced_load.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;

Announcement Announced(const CostMeter& costs) {
  Announcement announcement;
  announcement.services = {{.service = ServiceName("cache"), .partitions = {}},
                           {.service = ServiceName("index"), .partitions = {}}};
  announcement.sections[kAggregationLoadSection] =
      EncodeAnnouncedLoad(costs, /*processor_count=*/2, announcement.services);
  return announcement;
}

TEST(AnnouncedLoadTest, LoadIsThatOfTheServiceOnAllProcessors) {
  CostMeter costs;
  costs.AddLocal(ServiceName("index"), milliseconds(20));
  costs.AddReduce(ServiceName("index"), milliseconds(6));
  const PendingWork work(costs, milliseconds(50));
  const Announcement announcement = Announced(costs);
  const auto index = AnnouncedLoadOf(announcement, ServiceName("index"));
  ASSERT_TRUE(index);
  EXPECT_EQ(index->pending, milliseconds(25));
  EXPECT_EQ(index->local_cost, milliseconds(10));
  EXPECT_EQ(index->reduce_cost, milliseconds(3));
  const auto other = AnnouncedLoadOf(announcement, ServiceName("other"));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->pending, milliseconds(25));
  EXPECT_EQ(other->local_cost, Duration(0));
}

TEST(AnnouncedLoadTest, MalformedSectionCountsAsNone) {
  Announcement announcement = Announced(CostMeter());
  std::string& section = announcement.sections[kAggregationLoadSection];
  const std::string whole = section;
  for (size_t size = 0; size < whole.size(); ++size) {
    section = whole.substr(0, size);
    EXPECT_FALSE(AnnouncedLoadOf(announcement, ServiceName("index"))) << size;
  }
  section = whole + "x";
  EXPECT_FALSE(AnnouncedLoadOf(announcement, ServiceName("index")));
  section = whole;
  section[0] = 9;
  EXPECT_FALSE(AnnouncedLoadOf(announcement, ServiceName("index")));
  announcement.sections.erase(kAggregationLoadSection);
  EXPECT_FALSE(AnnouncedLoadOf(announcement, ServiceName("index")));
}

}  // namespace
}  // namespace neptune
