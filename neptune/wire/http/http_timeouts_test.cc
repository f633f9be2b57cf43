#include "neptune/wire/http/http_timeouts.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::seconds;
using Phase = HttpTimeouts::Phase;
using Verdict = HttpTimeouts::Verdict;

const TimePoint kStart = TimePoint() + seconds(1000);

class HttpTimeoutsTest : public testing::Test {
 protected:
  static TimePoint At(int second) { return kStart + seconds(second); }

  HttpTimeouts timeouts_{{.header = seconds(10),
                          .body = seconds(30),
                          .idle = seconds(60),
                          .write = seconds(20),
                          .write_size_min = 100,
                          .linger = seconds(1)},
                         kStart};
};

TEST_F(HttpTimeoutsTest, EachPhaseHasItsTime) {
  EXPECT_EQ(timeouts_.Deadline(true), At(60));
  timeouts_.Note(Phase::kInHeader, 0, At(5));
  EXPECT_EQ(timeouts_.Deadline(true), At(15));
  timeouts_.Note(Phase::kInHeader, 0, At(9));
  EXPECT_EQ(timeouts_.Deadline(true), At(15));
  timeouts_.Note(Phase::kInBody, 0, At(10));
  EXPECT_EQ(timeouts_.Deadline(true), At(40));
}

TEST_F(HttpTimeoutsTest, ABodyMustArriveInPiecesOfSomeSize) {
  HttpTimeouts timeouts({.header = seconds(10),
                         .body = seconds(30),
                         .idle = seconds(60),
                         .write = seconds(20),
                         .write_size_min = 100,
                         .linger = seconds(1),
                         .body_progress = seconds(8),
                         .body_progress_size_min = 1000},
                        kStart);
  timeouts.Note(Phase::kInBody, 0, At(0));
  timeouts.NoteBody(0, At(0));
  EXPECT_EQ(timeouts.Deadline(true), At(8));
  timeouts.NoteBody(999, At(7));
  EXPECT_EQ(timeouts.Deadline(true), At(8)) << "drops do not count";
  EXPECT_EQ(timeouts.Judge(true, At(8)), Verdict::kLateRequest);
  timeouts.NoteBody(5000, At(7));
  EXPECT_EQ(timeouts.Deadline(true), At(15));
  timeouts.NoteBody(5999, At(14));
  EXPECT_EQ(timeouts.Deadline(true), At(15));
  timeouts.NoteBody(6000, At(14));
  EXPECT_EQ(timeouts.Deadline(true), At(22));
  timeouts.NoteBody(90'000, At(25));
  EXPECT_EQ(timeouts.Deadline(true), At(30)) << "the time of the whole body";
}

TEST_F(HttpTimeoutsTest, NothingIsDueWhileNothingIsAwaited) {
  EXPECT_EQ(timeouts_.Deadline(false), kNever);
  EXPECT_EQ(timeouts_.Judge(false, At(1'000'000)), Verdict::kInTime);
}

TEST_F(HttpTimeoutsTest, AnAnswerRestartsTheIdleTime) {
  timeouts_.RestartPhase(At(50));
  EXPECT_EQ(timeouts_.Deadline(true), At(110));
}

TEST_F(HttpTimeoutsTest, AClientThatReadsEnoughGetsItsTimeAgain) {
  timeouts_.NoteWritten(1000);
  timeouts_.Note(Phase::kBetweenRequests, 1000, At(0));
  EXPECT_EQ(timeouts_.Deadline(false), At(20));
  timeouts_.Note(Phase::kBetweenRequests, 901, At(10));
  EXPECT_EQ(timeouts_.Deadline(false), At(20));
  timeouts_.Note(Phase::kBetweenRequests, 900, At(11));
  EXPECT_EQ(timeouts_.Deadline(false), At(31));
}

TEST_F(HttpTimeoutsTest, WrittenBytesDoNotCountAsRead) {
  timeouts_.NoteWritten(1000);
  timeouts_.Note(Phase::kBetweenRequests, 1000, At(0));
  timeouts_.NoteWritten(500);
  timeouts_.Note(Phase::kBetweenRequests, 1401, At(10));
  EXPECT_EQ(timeouts_.Deadline(false), At(20));
  timeouts_.Note(Phase::kBetweenRequests, 1400, At(11));
  EXPECT_EQ(timeouts_.Deadline(false), At(31));
}

TEST_F(HttpTimeoutsTest, JudgesWhatTheClientIsLateWith) {
  EXPECT_EQ(timeouts_.Judge(true, At(59)), Verdict::kInTime);
  EXPECT_EQ(timeouts_.Judge(true, At(60)), Verdict::kIdle);
  timeouts_.Note(Phase::kInHeader, 0, At(60));
  EXPECT_EQ(timeouts_.Judge(true, At(70)), Verdict::kLateRequest);
  timeouts_.Note(Phase::kInHeader, 10, At(70));
  EXPECT_EQ(timeouts_.Judge(true, At(90)), Verdict::kStalledReading);
}

TEST_F(HttpTimeoutsTest, LingeringEndsSoon) {
  timeouts_.Note(Phase::kInBody, 0, At(1));
  timeouts_.BeginLinger(At(2));
  EXPECT_TRUE(timeouts_.lingers());
  EXPECT_EQ(timeouts_.Deadline(true), At(3));
  EXPECT_EQ(timeouts_.Judge(true, At(3)), Verdict::kIdle);
}

TEST_F(HttpTimeoutsTest, LingeringBeginsAgainAfterAnAnswerSentMeanwhile) {
  timeouts_.BeginLinger(At(2));
  timeouts_.EndLinger();
  EXPECT_FALSE(timeouts_.lingers());
  EXPECT_EQ(timeouts_.Judge(true, At(3)), Verdict::kInTime);
  timeouts_.BeginLinger(At(3));
  EXPECT_EQ(timeouts_.Deadline(true), At(4));
}

}  // namespace
}  // namespace neptune
