#include "neptune/scheduling/admission_queue.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

using Entry = AdmissionQueue::Entry;

constexpr ClassNumber kGold = 0;
constexpr ClassNumber kBronze = 1;

TimePoint At(int64_t milli) { return TimePoint() + milliseconds(1'000'000 + milli); }

AdmissionQueue::Options TwoClasses() {
  AdmissionQueue::Options options;
  options.scheduling.classes = {
      {.name = "gold", .yield = *YieldFunction::Hybrid(4, seconds(1), 2, seconds(2))},
      {.name = "bronze", .yield = *YieldFunction::Hybrid(1, seconds(1), 0.5, seconds(2))}};
  options.waiting_count_max = 100;
  return options;
}

class AdmissionQueueTest : public testing::Test {
 protected:
  AdmissionQueue::Pushed Push(int64_t milli, AdmissionQueue::Request request = {}) {
    request.ticket = ++last_;
    request.arrived = At(milli);
    return queue_.Push(request, At(milli));
  }
  // Returns the ticket of the request that begins; 0: none.
  RequestTicket Pick(int64_t milli) {
    const auto picked = queue_.Pick(At(milli), threads_);
    for (const WaitingRequest& late : picked.dropped) dropped_.push_back(late.ticket);
    return picked.next ? picked.next->ticket : 0;
  }
  // Makes the pace of a class known: a request each `milli` ms.
  void LearnPace(int64_t milli, ClassNumber of = kGold) {
    for (int i = 0; i < 40; ++i) Push(0, {.service_class = of});
    for (int i = 0; i < 40; ++i) Pick(i * milli - 40 * milli);
    EXPECT_EQ(queue_.length(), 0u);
    last_ = 0;
  }

  AdmissionQueue queue_{TwoClasses()};
  ClassThreads threads_{{.all = 1}, 2};
  RequestTicket last_ = 0;
  std::vector<RequestTicket> dropped_;
};

TEST_F(AdmissionQueueTest, ServesAClassInOrderAndTheMoreValuableFirst) {
  Push(0, {.service_class = kBronze});
  Push(1, {.service_class = kGold});
  Push(2, {.service_class = kGold});
  EXPECT_EQ(queue_.length(), 3u);
  EXPECT_EQ(Pick(3), 2u);
  EXPECT_EQ(Pick(3), 3u);
  EXPECT_EQ(Pick(3), 1u);
  EXPECT_EQ(Pick(3), 0u);
  EXPECT_EQ(queue_.length(), 0u);
}

TEST_F(AdmissionQueueTest, WaitsIfItsTurnComesInTime) {
  LearnPace(10);
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(Push(0, {.begin_by = At(95)}).entry, Entry::kTaken) << i;
  }
  EXPECT_EQ(Push(0, {.begin_by = At(95)}).entry, Entry::kWaitTooLong);
  EXPECT_EQ(Push(0, {.begin_by = At(105)}).entry, Entry::kTaken) << "it has more time";
  EXPECT_EQ(Push(0, {.service_class = kBronze, .begin_by = At(95)}).entry, Entry::kTaken)
      << "another class has another pace";
}

TEST_F(AdmissionQueueTest, AnEmptyQueueRefusesNothing) {
  LearnPace(1000);
  EXPECT_EQ(Push(0, {.begin_by = At(1)}).entry, Entry::kTaken);
}

TEST_F(AdmissionQueueTest, LeavesTimeToServe) {
  LearnPace(10);
  for (int i = 0; i < 100; ++i) queue_.OnServed(kGold, milliseconds(5), milliseconds(40), At(0));
  EXPECT_EQ(queue_.LatestBegin({.arrived = At(0), .deadline = At(100)}), At(60));
  EXPECT_EQ(queue_.LatestBegin({.arrived = At(0), .begin_by = At(30), .deadline = At(100)}),
            At(30));
  EXPECT_EQ(queue_.LatestBegin({.arrived = At(0), .deadline = At(20)}), At(0));
  EXPECT_EQ(queue_.LatestBegin({.arrived = At(0)}), At(1960)) << "the class yields nothing later";
  for (int i = 0; i < 6; ++i) Push(0, {.deadline = At(100)});
  EXPECT_EQ(Push(0, {.deadline = At(100)}).entry, Entry::kWaitTooLong);
}

TEST_F(AdmissionQueueTest, AnotherClientWaitsForItsTurnOnly) {
  LearnPace(10);
  for (int i = 0; i < 50; ++i) Push(0, {.client = 1});
  EXPECT_EQ(queue_.ExpectedWait(kGold, 1), milliseconds(510));
  EXPECT_EQ(queue_.ExpectedWait(kGold, 2), milliseconds(20));
  EXPECT_EQ(Push(0, {.begin_by = At(30), .client = 1}).entry, Entry::kWaitTooLong);
  EXPECT_EQ(Push(0, {.begin_by = At(30), .client = 2}).entry, Entry::kTaken);
  EXPECT_EQ(Pick(0), 1u);
  EXPECT_EQ(Pick(0), 52u);
}

TEST_F(AdmissionQueueTest, AtTheLimitTheClientWithTheMostGivesWay) {
  for (int i = 0; i < 100; ++i) Push(0, {.client = 1});
  EXPECT_EQ(Push(0, {.client = 1}).entry, Entry::kQueueFull);
  const AdmissionQueue::Pushed pushed = Push(0, {.client = 2});
  EXPECT_EQ(pushed.entry, Entry::kTaken);
  EXPECT_EQ(pushed.displaced, 100u);
  EXPECT_EQ(queue_.length(), 100u);
  EXPECT_EQ(queue_.length_of(kGold), 100u);
}

TEST_F(AdmissionQueueTest, TheNewestAreFirstWhileClientsLeave) {
  for (int i = 0; i < 20; ++i) Push(0);
  for (int i = 1; i <= 5; ++i) {
    EXPECT_TRUE(queue_.Remove(static_cast<RequestTicket>(i)));
    queue_.NoteGone(kGold, At(100));
  }
  EXPECT_TRUE(queue_.NewestFirst(kGold, At(100)));
  EXPECT_EQ(Pick(100), 20u);
  EXPECT_EQ(Push(101, {.begin_by = At(102)}).entry, Entry::kTaken);
  EXPECT_EQ(Pick(101), 21u);
  EXPECT_FALSE(queue_.NewestFirst(kGold, At(4000)));
  EXPECT_FALSE(queue_.NewestFirst(kBronze, At(100)));
}

TEST_F(AdmissionQueueTest, ASingleClientThatLeavesChangesNothing) {
  for (int i = 0; i < 40; ++i) Push(0);
  queue_.Remove(7);
  queue_.NoteGone(kGold, At(1));
  EXPECT_EQ(Pick(1), 1u);
}

TEST_F(AdmissionQueueTest, WhatYieldsNothingIsDroppedBeforeTheNext) {
  Push(0);
  Push(0);
  Push(1000);
  EXPECT_EQ(Pick(2001), 3u);
  EXPECT_EQ(dropped_, (std::vector<RequestTicket>{1, 2}));
  EXPECT_EQ(queue_.length(), 0u);
}

TEST_F(AdmissionQueueTest, ARemovedRequestIsNotPicked) {
  Push(0);
  Push(0);
  EXPECT_TRUE(queue_.Remove(1));
  EXPECT_FALSE(queue_.Remove(1));
  EXPECT_EQ(Pick(1), 2u);
}

}  // namespace
}  // namespace neptune
