#include "neptune/wire/connection_slots.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace neptune {
namespace {

TimePoint At(int second) { return TimePoint() + std::chrono::seconds(1000 + second); }

class CountedOffer final : public IdleConnections {
 public:
  void CloseOneSoon() override { ++asked_count_; }
  int asked_count() const { return asked_count_; }

 private:
  int asked_count_ = 0;
};

class ConnectionSlotsTest : public testing::Test {
 protected:
  std::shared_ptr<CountedOffer> Offer(TimePoint oldest) {
    auto offer = std::make_shared<CountedOffer>();
    offer->Publish(oldest);
    slots_->Add(offer);
    return offer;
  }
  void TakeAll() {
    taken_.resize(slots_->limit());
    for (ConnectionSlot& slot : taken_) ASSERT_TRUE(slot.TryTake(slots_));
  }

  const std::shared_ptr<ConnectionSlots> slots_ = std::make_shared<ConnectionSlots>(16);
  std::vector<ConnectionSlot> taken_;
};

TEST_F(ConnectionSlotsTest, ThereIsALimit) {
  TakeAll();
  ConnectionSlot more;
  EXPECT_FALSE(more.TryTake(slots_));
  taken_.pop_back();
  EXPECT_TRUE(more.TryTake(slots_));
  EXPECT_EQ(slots_->used(), 16u);
}

TEST_F(ConnectionSlotsTest, ASlotIsBorrowedFromTheServerWithTheLongestIdleConnection) {
  const auto own = Offer(At(1));
  const auto longer = Offer(At(2));
  const auto shorter = Offer(At(3));
  const auto none = Offer(kNever);
  TakeAll();
  EXPECT_EQ(slots_->OldestBeside(own.get()), At(2));
  ConnectionSlot borrowed;
  EXPECT_TRUE(borrowed.TryBorrow(slots_, own.get()));
  EXPECT_EQ(longer->asked_count(), 1);
  EXPECT_EQ(own->asked_count() + shorter->asked_count() + none->asked_count(), 0);
  EXPECT_EQ(slots_->used(), 17u);
}

TEST_F(ConnectionSlotsTest, FewSlotsAreBorrowedAtOnce) {
  const auto offer = Offer(At(1));
  TakeAll();
  ASSERT_EQ(slots_->borrowed_count_max(), 2u);
  ConnectionSlot first, second, third;
  EXPECT_TRUE(first.TryBorrow(slots_, nullptr));
  EXPECT_TRUE(second.TryBorrow(slots_, nullptr));
  EXPECT_FALSE(third.TryBorrow(slots_, nullptr));
  EXPECT_EQ(offer->asked_count(), 2);
  taken_.pop_back();
  EXPECT_TRUE(third.TryBorrow(slots_, nullptr)) << "the other loop has closed one";
}

TEST_F(ConnectionSlotsTest, NothingIsBorrowedWhereNothingIsIdle) {
  const auto none = Offer(kNever);
  const auto gone = Offer(At(1));
  slots_->Remove(gone.get());
  TakeAll();
  ConnectionSlot borrowed;
  EXPECT_FALSE(borrowed.TryBorrow(slots_, nullptr));
  EXPECT_EQ(slots_->used(), 16u);
}

}  // namespace
}  // namespace neptune
