#include "neptune/wire/frame_output.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

// Keeps what is written, as if the peer read nothing.
class KeepingStream final : public Stream {
 public:
  struct Seen {
    std::vector<std::string> writes;
    bool reading = true;
  };

  explicit KeepingStream(Seen* seen) : seen_(seen) {}
  void Start(StreamHandler*) override {}
  void Write(std::string bytes) override { seen_->writes.push_back(std::move(bytes)); }
  size_t unsent_size() const override {
    size_t size = 0;
    for (const std::string& bytes : seen_->writes) size += bytes.size();
    return size;
  }
  void SetReading(bool on) override { seen_->reading = on; }
  void Close() override {}
  Endpoint peer() const override { return {}; }

 private:
  Seen* seen_;
};

class FrameOutputTest : public testing::Test {
 protected:
  // The frames of one write.
  static std::vector<Frame> FramesOf(const std::string& bytes) {
    FrameDecoder decoder;
    decoder.Feed(bytes);
    std::vector<Frame> frames;
    while (std::optional<Frame> frame = *decoder.Next()) frames.push_back(*std::move(frame));
    return frames;
  }

  Simulator simulator_{1};
  Loop* loop_ = *simulator_.AddHost({.name = "host"}).StartLoop({.name = "loop"});
  KeepingStream::Seen seen_;
  FrameOutput output_{std::make_unique<KeepingStream>(&seen_),
                      *loop_,
                      {.unsent_size_max = 1000, .payload_size_max = 500}};
};

TEST_F(FrameOutputTest, WritesEachFrameAtOnce) {
  output_.WriteAnswer(1, {}, "one");
  output_.WriteFrame(FrameType::kAccepted, 2, "", "");
  ASSERT_EQ(seen_.writes.size(), 2u);
  EXPECT_EQ(FramesOf(seen_.writes[0])[0].payload, "one");
  EXPECT_EQ(FramesOf(seen_.writes[1])[0].type, FrameType::kAccepted);
}

TEST_F(FrameOutputTest, GathersFramesInOneWrite) {
  output_.BeginGathering();
  output_.WriteAnswer(1, {}, "one");
  output_.WriteAnswer(2, {}, "two");
  EXPECT_TRUE(seen_.writes.empty());
  output_.EndGathering();
  ASSERT_EQ(seen_.writes.size(), 1u);
  EXPECT_EQ(FramesOf(seen_.writes[0]).size(), 2u);
}

TEST_F(FrameOutputTest, RefusesAnAnswerOverTheLimit) {
  output_.WriteAnswer(1, {}, std::string(501, 'x'));
  const Frame frame = FramesOf(seen_.writes.at(0)).at(0);
  EXPECT_EQ(frame.payload, "");
  EXPECT_EQ(DecodeResponseHeader(frame.section)->status.code(), StatusCode::kResourceExhausted);
}

TEST_F(FrameOutputTest, PausesAStreamWhosePeerDoesNotRead) {
  output_.WriteAnswer(1, {}, std::string(500, 'x'));
  EXPECT_FALSE(output_.paused());
  EXPECT_TRUE(seen_.reading);
  output_.WriteAnswer(2, {}, std::string(500, 'x'));
  EXPECT_TRUE(output_.paused());
  EXPECT_FALSE(seen_.reading);
  EXPECT_EQ(output_.paused_at(), loop_->Now());
}

TEST_F(FrameOutputTest, GatheredBytesCountAsUnsent) {
  output_.BeginGathering();
  for (uint64_t call = 1; call < 4; ++call) output_.WriteAnswer(call, {}, std::string(400, 'x'));
  EXPECT_TRUE(output_.paused());
}

TEST_F(FrameOutputTest, WritesNothingOnceClosed) {
  output_.BeginGathering();
  output_.WriteAnswer(1, {}, "one");
  output_.Close();
  output_.WriteFrame(FrameType::kDrain, 0, "", "");
  output_.EndGathering();
  EXPECT_TRUE(seen_.writes.empty());
}

}  // namespace
}  // namespace neptune
