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
    while (true) {
      const auto frame = input_.Next();
      EXPECT_TRUE(frame.ok());
      if (!frame->has_value()) return payloads;
      payloads += (*frame)->payload;
    }
  }

  size_t total_ = 100;  // of other connections
  FrameInput input_{{}, &total_, kStart};
};

TEST_F(FrameInputTest, AFrameIsIncompleteSinceItsFirstByte) {
  const std::string frame = FrameOf(1, "payload");
  EXPECT_EQ(input_.UnfinishedFor(At(5)), seconds(0));
  input_.Feed(frame.substr(0, 10), At(5));
  EXPECT_EQ(TakeAll(), "");
  input_.Feed(frame.substr(10, 10), At(7));
  EXPECT_EQ(input_.UnfinishedFor(At(9)), seconds(4));
  input_.Feed(frame.substr(20), At(9));
  EXPECT_EQ(TakeAll(), "payload");
  EXPECT_EQ(input_.UnfinishedFor(At(20)), seconds(0));
  EXPECT_EQ(input_.last_frame_at(), At(9));
}

TEST_F(FrameInputTest, ACompleteFrameRestartsTheTimeOfTheNext) {
  input_.Feed(FrameOf(1, "a").substr(0, 10), At(0));
  input_.Feed(FrameOf(1, "a").substr(10) + FrameOf(2, "b").substr(0, 10), At(8));
  EXPECT_EQ(TakeAll(), "a");
  EXPECT_EQ(input_.UnfinishedFor(At(9)), seconds(1));
}

TEST_F(FrameInputTest, APauseDoesNotCount) {
  input_.Feed(FrameOf(1, "a").substr(0, 10), At(0));
  input_.Resume(At(50));
  EXPECT_EQ(input_.UnfinishedFor(At(51)), seconds(1));
}

TEST_F(FrameInputTest, CountsIncompleteBytesInTheTotalOnce) {
  input_.Feed(FrameOf(1, "a").substr(0, 10), At(0));
  EXPECT_EQ(input_.CountUnfinished(), 110u);
  EXPECT_EQ(input_.CountUnfinished(), 110u);
  input_.Feed(FrameOf(1, "a").substr(10), At(0));
  EXPECT_EQ(TakeAll(), "a");
  EXPECT_EQ(input_.CountUnfinished(), 100u);
  input_.Feed("x", At(0));
  EXPECT_EQ(input_.CountUnfinished(), 101u);
  input_.Discount();
  input_.Discount();
  EXPECT_EQ(total_, 100u);
}

TEST_F(FrameInputTest, MalformedBytesAreAnError) {
  input_.Feed(std::string(64, 'x'), At(0));
  EXPECT_EQ(input_.Next().status().code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace neptune
