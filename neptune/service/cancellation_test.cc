#include "neptune/service/cancellation.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "neptune/wire/incoming_call.h"

namespace neptune {
namespace {

std::shared_ptr<IncomingCall> NewCall() { return std::make_shared<IncomingCall>(); }

TEST(CancellationTest, APartEndsWithTheWhole) {
  const auto whole = NewCall();
  const Cancellation part(whole);
  EXPECT_FALSE(part.call()->cancelled());
  whole->Cancel();
  EXPECT_TRUE(part.call()->cancelled());
}

TEST(CancellationTest, TheWholeGoesOnWithoutAPart) {
  const auto whole = NewCall();
  Cancellation part(whole);
  part.Cancel();
  EXPECT_TRUE(part.call()->cancelled());
  EXPECT_FALSE(whole->cancelled());
}

TEST(CancellationTest, APartOfACancelledWholeIsCancelled) {
  const auto whole = NewCall();
  whole->Cancel();
  EXPECT_TRUE(Cancellation(whole).call()->cancelled());
}

TEST(CancellationTest, APartThatHasEndedLeavesNoAction) {
  const auto whole = NewCall();
  std::optional<Cancellation> part(std::in_place, whole);
  const auto call = part->call();
  part.reset();
  whole->Cancel();
  EXPECT_FALSE(call->cancelled());
}

TEST(SharedCancellationTest, TheComputationEndsWhenTheLastCallerHasLeft) {
  SharedCancellation shared;
  const auto first = NewCall();
  const auto second = NewCall();
  const auto one = shared.Join(first);
  const auto two = shared.Join(second);
  EXPECT_EQ(shared.member_count(), 2u);
  first->Cancel();
  EXPECT_EQ(shared.member_count(), 1u);
  EXPECT_FALSE(shared.ended());
  second->Cancel();
  EXPECT_TRUE(shared.ended());
  EXPECT_TRUE(shared.call()->cancelled());
}

TEST(SharedCancellationTest, ACallerLeavesOnce) {
  SharedCancellation shared;
  const auto first = NewCall();
  auto one = shared.Join(first);
  const auto two = shared.Join(NewCall());
  first->Cancel();
  one.Leave();
  one.Leave();
  EXPECT_EQ(shared.member_count(), 1u);
  EXPECT_FALSE(shared.ended());
}

TEST(SharedCancellationTest, ACallerWithoutACallStaysUntilItsMembershipEnds) {
  SharedCancellation shared;
  const auto first = NewCall();
  const auto one = shared.Join(first);
  {
    const auto two = shared.Join(nullptr);
    first->Cancel();
    EXPECT_FALSE(shared.ended());
  }
  EXPECT_TRUE(shared.ended());
}

TEST(SharedCancellationTest, ACompleteComputationGoesOnWithoutCallers) {
  SharedCancellation shared;
  const auto first = NewCall();
  const auto one = shared.Join(first);
  shared.Complete();
  first->Cancel();
  EXPECT_EQ(shared.member_count(), 0u);
  EXPECT_FALSE(shared.ended());
}

TEST(SharedCancellationTest, AMembershipThatIsMovedLeavesOnce) {
  SharedCancellation shared;
  std::optional<SharedCancellation::Member> kept;
  {
    auto one = shared.Join(NewCall());
    kept.emplace(std::move(one));
  }
  EXPECT_FALSE(shared.ended());
  kept.reset();
  EXPECT_TRUE(shared.ended());
}

// A cancelled caller may be the one that a membership is being made for.
TEST(SharedCancellationTest, ACallerThatHasLeftAlreadyEndsTheComputationItWouldBegin) {
  SharedCancellation shared;
  const auto gone = NewCall();
  gone->Cancel();
  const auto one = shared.Join(gone);
  EXPECT_TRUE(shared.ended());
}

}  // namespace
}  // namespace neptune
