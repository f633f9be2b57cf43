#include "neptune/wire/frame_input.h"

#include <gtest/gtest.h>

#include <string>

namespace neptune {
namespace {

using std::chrono::seconds;

const TimePoint kStart = TimePoint() + seconds(1000);

TimePoint At(int second) { return kStart + seconds(second); }

std::string FrameOf(uint64_t call, const std::string& payload) {
  std::string bytes;
  EXPECT_TRUE(AppendFrame(FrameType::kMessage, call, "", payload, &bytes).ok());
  return bytes;
}

class FrameInputTest : public testing::Test {
 protected:
  // Takes all complete frames; returns their payloads.
  std::string TakeAll() {
    std::string payloads;
    FrameView frame;
    while (input_.Next(&frame)) payloads += frame.payload;
    EXPECT_TRUE(input_.error().ok());
    input_.Keep();
    return payloads;
  }
  // Takes a read, whose bytes are gone afterwards.
  void Feed(const std::string& bytes, TimePoint now) {
    std::string read = bytes;
    input_.Lend(read, now);
    input_.Keep();
    read.assign(read.size(), '#');
  }

  size_t total_ = 100;  // of other connections
  FrameInput input_{{}, &total_, kStart};
};

TEST_F(FrameInputTest, AFrameIsIncompleteSinceItsFirstByte) {
  const std::string frame = FrameOf(1, "payload");
  EXPECT_EQ(input_.UnfinishedFor(At(5)), seconds(0));
  Feed(frame.substr(0, 10), At(5));
  EXPECT_EQ(TakeAll(), "");
  Feed(frame.substr(10, 10), At(7));
  EXPECT_EQ(input_.UnfinishedFor(At(9)), seconds(4));
  Feed(frame.substr(20), At(9));
  EXPECT_EQ(TakeAll(), "payload");
  EXPECT_EQ(input_.UnfinishedFor(At(20)), seconds(0));
  EXPECT_EQ(input_.last_frame_at(), At(9));
}

TEST_F(FrameInputTest, ACompleteFrameRestartsTheTimeOfTheNext) {
  Feed(FrameOf(1, "a").substr(0, 10), At(0));
  Feed(FrameOf(1, "a").substr(10) + FrameOf(2, "b").substr(0, 10), At(8));
  EXPECT_EQ(TakeAll(), "a");
  EXPECT_EQ(input_.UnfinishedFor(At(9)), seconds(1));
}

TEST_F(FrameInputTest, FramesOfOneReadAreNotCopied) {
  const std::string read = FrameOf(1, "first") + FrameOf(2, "second") + FrameOf(3, "cut");
  input_.Lend(std::string_view(read).substr(0, read.size() - 1), At(0));
  FrameView frame;
  for (const std::string_view expected : {"first", "second"}) {
    ASSERT_TRUE(input_.Next(&frame));
    EXPECT_EQ(frame.payload, expected);
    EXPECT_GE(frame.payload.data(), read.data());
    EXPECT_LT(frame.payload.data(), read.data() + read.size());
  }
  EXPECT_FALSE(input_.Next(&frame));
  input_.Keep();
  Feed(read.substr(read.size() - 1), At(1));
  EXPECT_EQ(TakeAll(), "cut");
}

TEST_F(FrameInputTest, APauseDoesNotCount) {
  Feed(FrameOf(1, "a").substr(0, 10), At(0));
  input_.Resume(At(50));
  EXPECT_EQ(input_.UnfinishedFor(At(51)), seconds(1));
}

TEST_F(FrameInputTest, CountsIncompleteBytesInTheTotalOnce) {
  Feed(FrameOf(1, "a").substr(0, 10), At(0));
  EXPECT_EQ(input_.CountUnfinished(), 110u);
  EXPECT_EQ(input_.CountUnfinished(), 110u);
  Feed(FrameOf(1, "a").substr(10), At(0));
  EXPECT_EQ(TakeAll(), "a");
  EXPECT_EQ(input_.CountUnfinished(), 100u);
  Feed("x", At(0));
  EXPECT_EQ(input_.CountUnfinished(), 101u);
  input_.Discount();
  input_.Discount();
  EXPECT_EQ(total_, 100u);
}

TEST_F(FrameInputTest, MalformedBytesAreAnError) {
  Feed(std::string(64, 'x'), At(0));
  FrameView frame;
  EXPECT_FALSE(input_.Next(&frame));
  EXPECT_EQ(input_.error().code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace neptune
