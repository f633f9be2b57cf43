#include "neptune/scheduling/fair_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

class FairQueueTest : public testing::Test {
 protected:
  RequestTicket Push(uint64_t client, bool is_urgent = false) {
    queue_.Push({.ticket = ++last_}, client, is_urgent);
    return last_;
  }
  // Takes all in order; returns their tickets.
  std::string TakeAll(bool newest_first = false) {
    std::string tickets;
    while (const WaitingRequest* next = queue_.Next(newest_first)) {
      StrAppend(&tickets, next->ticket, " ");
      queue_.Take(RequestTicket{next->ticket});
    }
    return tickets;
  }

  FairQueue queue_;
  RequestTicket last_ = 0;
};

TEST_F(FairQueueTest, ServesOneClientInOrder) {
  for (int i = 0; i < 4; ++i) Push(7);
  EXPECT_EQ(queue_.Ahead(7), 4u);
  EXPECT_EQ(queue_.Ahead(8), 1u);
  EXPECT_EQ(TakeAll(), "1 2 3 4 ");
  EXPECT_EQ(queue_.client_count(), 0u);
}

TEST_F(FairQueueTest, ClientsTakeTurns) {
  for (const uint64_t client : {1, 1, 1, 1, 2, 2, 3}) Push(client);
  EXPECT_EQ(queue_.Ahead(3), 5u);
  EXPECT_EQ(queue_.Ahead(4), 3u);
  EXPECT_EQ(TakeAll(), "1 5 7 2 6 3 4 ");
}

TEST_F(FairQueueTest, AClientThatComesAgainWaitsForTheOthers) {
  Push(1);
  Push(2);
  queue_.Take(1);
  Push(1);
  EXPECT_EQ(TakeAll(), "2 3 ");
}

TEST_F(FairQueueTest, TheNewestMayBeFirst) {
  for (int i = 0; i < 3; ++i) Push(1, true);
  Push(2, true);
  EXPECT_EQ(TakeAll(/*newest_first=*/true), "4 3 2 1 ");
}

TEST_F(FairQueueTest, RemovesFromAnywhere) {
  for (const uint64_t client : {1, 1, 2, 3}) Push(client);
  EXPECT_TRUE(queue_.Remove(1));
  EXPECT_TRUE(queue_.Remove(3));
  EXPECT_FALSE(queue_.Remove(3));
  EXPECT_EQ(queue_.size(), 2u);
  EXPECT_EQ(TakeAll(), "2 4 ");
}

TEST_F(FairQueueTest, TheNewestOfTheClientWithTheMostIsDisplaced) {
  for (const uint64_t client : {1, 1, 1, 2, 2}) Push(client);
  EXPECT_EQ(queue_.Displace(1), std::nullopt) << "it would displace its own";
  EXPECT_EQ(queue_.Displace(3), 3u);
  EXPECT_EQ(queue_.Displace(2), std::nullopt) << "it would have more than the other";
  EXPECT_EQ(queue_.Displace(3).has_value(), true);
  EXPECT_EQ(queue_.Displace(3).has_value(), true);
  EXPECT_EQ(queue_.Displace(3), std::nullopt);
  EXPECT_EQ(queue_.size(), 2u);
}

// `Ahead` against serving everything.
TEST_F(FairQueueTest, SaysHowManyAreServedBefore) {
  constexpr uint32_t kSeed = 3;
  SCOPED_TRACE(StrCat("seed ", kSeed));
  std::mt19937 random(kSeed);
  for (int round = 0; round < 300; ++round) {
    const size_t count = random() % 30;
    for (size_t i = 0; i < count; ++i) Push(random() % 5);
    const uint64_t client = random() % 6;
    const size_t ahead = queue_.Ahead(client);
    const RequestTicket own = Push(client);
    size_t served = 0;
    bool found = false;
    while (const WaitingRequest* next = queue_.Next(false)) {
      const RequestTicket ticket = next->ticket;
      queue_.Take(ticket);
      found |= ticket == own;
      if (!found) ++served;
    }
    // A client whose turn is later in the round is counted, whether it comes before or after.
    ASSERT_GE(ahead, served) << "round " << round;
    ASSERT_LE(ahead, served + 5) << "round " << round;
  }
}

}  // namespace
}  // namespace neptune
