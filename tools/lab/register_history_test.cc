#include "tools/lab/register_history.h"

#include <gtest/gtest.h>

namespace search::lab {
namespace {

using neptune::TimePoint;
using std::chrono::seconds;

RegisterOperation Write(const std::string& text, const std::string& value, int begin, int end) {
  return {.key = "k",
          .is_write = true,
          .text = text,
          .begin = TimePoint(seconds(begin)),
          .end = TimePoint(seconds(end)),
          .is_acknowledged = true,
          .value = value,
          .report = {.version = value.size()}};
}

RegisterOperation Read(const std::string& value, int begin, int staleness_s) {
  return {.session = 1,
          .key = "k",
          .begin = TimePoint(seconds(begin)),
          .end = TimePoint(seconds(begin)),
          .is_acknowledged = true,
          .value = value,
          .report = {.version = value.size(), .staleness = seconds(staleness_s)}};
}

std::string Judge(const std::vector<RegisterOperation>& history, const std::string& contents) {
  return JudgeRegisters(history, {{{0, "k"}, contents}}, true);
}

TEST(RegisterHistoryTest, WhatIsRightIsRight) {
  EXPECT_EQ(Judge({Write("a;", "a;", 1, 2), Read("a;", 3, 0), Write("b;", "a;b;", 4, 5),
                   Read("a;", 6, 3)},
                  "a;b;"),
            "");
}

TEST(RegisterHistoryTest, AWriteThatWasNotAcknowledgedMayBeThereOrNot) {
  RegisterOperation lost = Write("a;", "", 1, 2);
  lost.is_acknowledged = false;
  EXPECT_EQ(Judge({lost}, ""), "");
  EXPECT_EQ(Judge({lost}, "a;"), "");
  EXPECT_NE(Judge({lost}, "a;a;"), "");
}

TEST(RegisterHistoryTest, FindsWhatIsWrong) {
  EXPECT_NE(Judge({Write("a;", "a;", 1, 2)}, "").find("lost"), std::string::npos);
  EXPECT_NE(Judge({Write("a;", "a;", 1, 2)}, "a;a;").find("twice"), std::string::npos);
  EXPECT_NE(Judge({Write("a;", "a;", 1, 2)}, "b;a;").find("its own end"), std::string::npos);
  EXPECT_NE(Judge({Write("a;", "a;", 1, 2), Read("b;", 3, 9)}, "a;").find("does not begin"),
            std::string::npos);
  EXPECT_NE(Judge({Write("a;", "a;", 1, 2), Read("", 9, 3)}, "a;").find("staler"),
            std::string::npos);
  EXPECT_NE(
      Judge({Write("a;", "b;a;", 1, 2), Write("b;", "b;", 3, 4)}, "b;a;").find("stands before"),
      std::string::npos);
  EXPECT_NE(
      Judge({Write("a;", "a;", 1, 2), Read("a;", 3, 0), Read("", 4, 9)}, "a;").find("less than"),
      std::string::npos);
}

std::string JudgeInserted(const std::vector<RegisterOperation>& history,
                          const std::string& contents) {
  return JudgeInserts(history, {{{0, "k"}, contents}});
}

TEST(RegisterHistoryTest, InsertsAreSeenInAnyOrder) {
  EXPECT_EQ(JudgeInserted({Write("b;", "b;", 1, 2), Write("a;", "a;", 3, 4), Read("", 5, 0),
                           Read("a;b;", 6, 0)},
                          "a;b;"),
            "");
}

TEST(RegisterHistoryTest, InsertsThatAreLostDoubledOrTakenBackAreFound) {
  EXPECT_NE(JudgeInserted({Write("a;", "a;", 1, 2)}, ""), "");
  EXPECT_NE(JudgeInserted({Write("a;", "a;", 1, 2)}, "a;a;"), "");
  EXPECT_NE(JudgeInserted({Write("a;", "", 1, 2)}, "a;"), "");
  EXPECT_NE(JudgeInserted({Read("b;", 1, 0)}, "a;"), "");
  EXPECT_NE(JudgeInserted({Read("a;a;", 1, 0)}, "a;"), "");
}

}  // namespace
}  // namespace search::lab
