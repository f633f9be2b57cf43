#include "neptune/wire/message_stream_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "neptune/world/random_source.h"

namespace neptune {
namespace {

constexpr size_t kHalf = kMessageWindowSize / 2;

std::string Message(size_t frame_size) { return std::string(frame_size - kFramePrefixSize, 'x'); }

TEST(MessageStreamStateTest, MessagesAreReadInTheOrderOfArrival) {
  MessageStreamState state;
  for (const char* text : {"a", "b", "c"}) ASSERT_TRUE(state.HandleMessage(text).ok());
  for (const char* text : {"a", "b", "c"}) EXPECT_EQ(state.Next()->message, text);
  EXPECT_FALSE(state.Next());
  EXPECT_FALSE(state.reading_ended());
}

TEST(MessageStreamStateTest, ReadingEndsAfterWhatWasSentBeforeTheEnd) {
  MessageStreamState state;
  ASSERT_TRUE(state.HandleMessage("a").ok());
  ASSERT_TRUE(state.HandleEnd().ok());
  EXPECT_FALSE(state.reading_ended());
  EXPECT_EQ(state.Next()->message, "a");
  EXPECT_TRUE(state.reading_ended());
  EXPECT_TRUE(state.CanWrite()) << "the other direction continues";
}

TEST(MessageStreamStateTest, WriterStopsWhenTheWindowIsUsedUp) {
  MessageStreamState state;
  state.Wrote(kMessageWindowSize - kFramePrefixSize - 1);
  EXPECT_TRUE(state.CanWrite()) << "one byte is left";
  state.Wrote(kMessageSizeMax);
  EXPECT_FALSE(state.CanWrite());
  ASSERT_TRUE(state.HandleGrant(kMessageSizeMax).ok());
  EXPECT_FALSE(state.CanWrite()) << "what was overdrawn comes first";
  ASSERT_TRUE(state.HandleGrant(kFramePrefixSize).ok());
  EXPECT_TRUE(state.CanWrite());
}

TEST(MessageStreamStateTest, EmptyMessagesUseUpTheWindowToo) {
  MessageStreamState state;
  size_t count = 0;
  for (; state.CanWrite(); ++count) state.Wrote(0);
  EXPECT_EQ(count, kMessageWindowSize / kFramePrefixSize);
}

TEST(MessageStreamStateTest, HalfAReadWindowIsGrantedAgain) {
  MessageStreamState state;
  ASSERT_TRUE(state.HandleMessage(Message(kHalf - 32)).ok());
  ASSERT_TRUE(state.HandleMessage("").ok());
  EXPECT_EQ(state.Next()->grant, 0u);
  EXPECT_EQ(state.Next()->grant, kHalf);
}

TEST(MessageStreamStateTest, PeerThatEndedIsGrantedNothing) {
  MessageStreamState state;
  ASSERT_TRUE(state.HandleMessage(Message(kMessageWindowSize)).ok());
  ASSERT_TRUE(state.HandleEnd().ok());
  EXPECT_EQ(state.Next()->grant, 0u);
}

TEST(MessageStreamStateTest, BrokenRulesAreDataLoss) {
  MessageStreamState overrun;
  ASSERT_TRUE(overrun.HandleMessage(Message(kMessageWindowSize)).ok());
  EXPECT_EQ(overrun.HandleMessage("").code(), StatusCode::kDataLoss);

  MessageStreamState ended;
  ASSERT_TRUE(ended.HandleEnd().ok());
  EXPECT_EQ(ended.HandleEnd().code(), StatusCode::kDataLoss);
  EXPECT_EQ(ended.HandleMessage("late").code(), StatusCode::kDataLoss);

  MessageStreamState granted;
  EXPECT_EQ(granted.HandleGrant(1).code(), StatusCode::kDataLoss) << "the window was full";
  EXPECT_EQ(granted.HandleGrant(0).code(), StatusCode::kDataLoss);
  EXPECT_EQ(granted.HandleGrant(~uint32_t{0}).code(), StatusCode::kDataLoss);

  MessageStreamState large;
  EXPECT_EQ(large.HandleMessage(std::string(kMessageSizeMax + 1, 'x')).code(),
            StatusCode::kDataLoss);
}

TEST(MessageStreamStateTest, CloseKeepsOrDropsWhatWasNotRead) {
  MessageStreamState kept;
  ASSERT_TRUE(kept.HandleMessage("a").ok());
  kept.Close(OkStatus(), /*drop_unread=*/false);
  EXPECT_FALSE(kept.reading_ended());
  EXPECT_EQ(kept.Next()->message, "a");
  EXPECT_TRUE(kept.reading_ended());

  MessageStreamState dropped;
  ASSERT_TRUE(dropped.HandleMessage("a").ok());
  dropped.Close(Cancelled("gone"), /*drop_unread=*/true);
  EXPECT_TRUE(dropped.reading_ended());
  EXPECT_EQ(dropped.unread_size(), 0u);
  dropped.Close(OkStatus(), false);
  EXPECT_EQ(dropped.closed_with()->code(), StatusCode::kCancelled) << "the first one counts";
}

TEST(MessageStreamStateTest, WhatCrossesTheCloseIsDropped) {
  MessageStreamState state;
  state.Close(OkStatus(), false);
  EXPECT_TRUE(state.HandleMessage("late").ok());
  EXPECT_TRUE(state.HandleGrant(1).ok());
  EXPECT_TRUE(state.HandleEnd().ok());
  EXPECT_TRUE(state.HandleEnd().ok());
  EXPECT_EQ(state.unread_size(), 0u);
}

// Two ends over a link that delivers in order but late: whatever the sizes and the timing, nothing
// is lost or reordered, no rule is broken, the reader never holds more than a window and a message,
// and the writer is never stuck while the reader has read all.
class LinkedEnds {
 public:
  explicit LinkedEnds(uint64_t seed) : random_(seed) {}

  void Step() {
    switch (random_.Below(4)) {
      case 0:
        return Write();
      case 1:
        return Deliver();
      case 2:
        return Read();
      default:
        return DeliverGrant();
    }
  }

  void Drain() {
    while (!messages_.empty() || !grants_.empty() || reader_.unread_size() > 0 ||
           read_.size() < written_.size()) {
      Deliver();
      Read();
      DeliverGrant();
    }
    EXPECT_EQ(read_, written_);
    EXPECT_TRUE(writer_.CanWrite());
  }

 private:
  void Write() {
    if (!writer_.CanWrite()) return;
    const size_t size_max = random_.Below(20) == 0 ? kMessageSizeMax : 30'000;
    const size_t size = random_.Below(size_max + 1);
    writer_.Wrote(size);
    messages_.push_back(size);
    written_.push_back(size);
  }
  void Deliver() {
    if (messages_.empty()) return;
    ASSERT_TRUE(reader_.HandleMessage(std::string(messages_.front(), 'x')).ok());
    messages_.pop_front();
    ASSERT_LE(reader_.unread_size(), kMessageWindowSize + kMessageSizeMax);
  }
  void Read() {
    const auto taken = reader_.Next();
    if (!taken) return;
    read_.push_back(taken->message.size());
    if (taken->grant > 0) grants_.push_back(taken->grant);
  }
  void DeliverGrant() {
    if (grants_.empty()) return;
    ASSERT_TRUE(writer_.HandleGrant(grants_.front()).ok());
    grants_.pop_front();
  }

  RandomSource random_;
  MessageStreamState writer_;
  MessageStreamState reader_;
  std::deque<size_t> messages_;
  std::deque<uint32_t> grants_;
  std::vector<size_t> written_;
  std::vector<size_t> read_;
};

TEST(MessageStreamStateTest, AnyTimingKeepsOrderAndBounds) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    LinkedEnds ends(seed);
    for (int i = 0; i < 2000 && !testing::Test::HasFatalFailure(); ++i) ends.Step();
    ends.Drain();
  }
}

}  // namespace
}  // namespace neptune
