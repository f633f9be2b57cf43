// Each holding is counted once, also after a move.

#include "neptune/sert/request_holdings.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace neptune {
namespace {

TEST(RequestHoldingsTest, CountsByKindWhatIsHeld) {
  const auto holdings = std::make_shared<RequestHoldings>();
  Holding place(holdings, HeldKind::kCapsulePlace);
  {
    const Holding first(holdings, HeldKind::kCall);
    const Holding second(holdings, HeldKind::kCall);
    EXPECT_EQ(holdings->count(HeldKind::kCall), 2);
    EXPECT_EQ(holdings->count(HeldKind::kCapsulePlace), 1);
  }
  EXPECT_EQ(holdings->count(HeldKind::kCall), 0);
  place.Release();
  place.Release();
  EXPECT_EQ(holdings->count(HeldKind::kCapsulePlace), 0);
}

TEST(RequestHoldingsTest, WhatIsHandedOnIsCountedOnce) {
  const auto holdings = std::make_shared<RequestHoldings>();
  Holding first(holdings, HeldKind::kCall);
  Holding second = std::move(first);
  EXPECT_EQ(holdings->count(HeldKind::kCall), 1);
  second = Holding(holdings, HeldKind::kCapsulePlace);
  EXPECT_EQ(holdings->count(HeldKind::kCall), 0);
  EXPECT_EQ(holdings->count(HeldKind::kCapsulePlace), 1);
}

TEST(RequestHoldingsTest, HoldingWithoutRequestIsNotCounted) {
  Holding nobodys(nullptr, HeldKind::kCall);
  nobodys.Release();
  nobodys = Holding();
}

}  // namespace
}  // namespace neptune
