#include "neptune/scheduling/request_queue.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

TimePoint At(int s) { return TimePoint(std::chrono::seconds(s)); }

TEST(RequestQueueTest, FirstComeFirstServed) {
  RequestQueue queue;
  for (RequestTicket ticket : {3, 1, 2}) EXPECT_TRUE(queue.Push({ticket, At(0)}));
  EXPECT_EQ(queue.Pick(At(1)).next->ticket, 3u);
  EXPECT_EQ(queue.Pick(At(1)).next->ticket, 1u);
  EXPECT_EQ(queue.Pick(At(1)).next->ticket, 2u);
  EXPECT_FALSE(queue.Pick(At(1)).next.has_value());
}

TEST(RequestQueueTest, OneOverTheLimitIsRefused) {
  RequestQueue queue({.length_max = 2});
  EXPECT_TRUE(queue.Push({1, At(0)}));
  EXPECT_TRUE(queue.Push({2, At(0)}));
  EXPECT_FALSE(queue.Push({3, At(0)}));
  EXPECT_EQ(queue.length(), 2u);
}

TEST(RequestQueueTest, ExpiredRequestsAreHandedBackNotServed) {
  RequestQueue queue;
  queue.Push({1, At(0), At(2)});
  queue.Push({2, At(0), At(5)});
  const RequestQueue::Picked picked = queue.Pick(At(2));
  EXPECT_EQ(picked.next->ticket, 2u);
  ASSERT_EQ(picked.expired.size(), 1u);
  EXPECT_EQ(picked.expired[0].ticket, 1u);
}

TEST(RequestQueueTest, CancelledRequestLeavesTheQueue) {
  RequestQueue queue;
  queue.Push({1, At(0)});
  EXPECT_TRUE(queue.Remove(1));
  EXPECT_FALSE(queue.Remove(1));
  EXPECT_FALSE(queue.Pick(At(0)).next.has_value());
}

}  // namespace
}  // namespace neptune
