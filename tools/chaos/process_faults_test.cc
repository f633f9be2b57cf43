#include "tools/chaos/process_faults.h"

#include <gtest/gtest.h>

namespace search::chaos {
namespace {

using neptune::Fault;
using Kind = Fault::Kind;

class ProcessFaultsTest : public testing::Test {
 protected:
  ProcessFaultsTest() { EXPECT_TRUE(process_.Start().ok()); }

  ServerProcess process_{{"/bin/sleep", "1000"}, testing::TempDir() + "/sleep.log"};
  ProcessFaults faults_{{{"s0", {&process_, 0}}}, nullptr};
};

TEST_F(ProcessFaultsTest, CrashedProcessIsStartedAgain) {
  const Fault crash = {.kind = Kind::kCrash, .hosts = {"s0"}};
  EXPECT_TRUE(faults_.Begin(crash).ok());
  EXPECT_FALSE(process_.lives());
  EXPECT_TRUE(faults_.End(crash).ok());
  EXPECT_TRUE(process_.lives());
}

TEST_F(ProcessFaultsTest, EverySupportedKindLeavesTheProcessRunning) {
  for (const neptune::FaultTraits& traits : neptune::AllFaultTraits()) {
    if (!faults_.Supports(traits.kind)) continue;
    const Fault fault = {.kind = traits.kind, .hosts = {"s0"}};
    EXPECT_TRUE(faults_.Begin(fault).ok()) << traits.name;
    EXPECT_TRUE(faults_.End(fault).ok()) << traits.name;
    EXPECT_TRUE(process_.lives()) << traits.name;
    EXPECT_FALSE(process_.HasEnded()) << traits.name;
  }
}

TEST_F(ProcessFaultsTest, UnknownNodeIsRefused) {
  EXPECT_EQ(faults_.Begin({.kind = Kind::kPause, .hosts = {"s9"}}).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(ProcessFaultsTest, ProcessThatDoesNotLiveHasNoFaults) {
  process_.Kill();
  for (const neptune::FaultTraits& traits : neptune::AllFaultTraits()) {
    if (!faults_.Supports(traits.kind)) continue;
    EXPECT_EQ(faults_.Begin({.kind = traits.kind, .hosts = {"s0"}}).code(),
              absl::StatusCode::kFailedPrecondition)
        << traits.name;
  }
}

TEST_F(ProcessFaultsTest, CrashOfAProcessThatLivesDoesNotEnd) {
  EXPECT_EQ(faults_.End({.kind = Kind::kCrash, .hosts = {"s0"}}).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(ProcessFaultsTest, SchedulesAreCheckedBeforeTheyBegin) {
  const auto check = [&](std::string_view text) {
    const auto schedule = neptune::ParseFaultSchedule(text);
    return schedule.ok() ? faults_.Check(*schedule) : schedule.status();
  };
  EXPECT_TRUE(check("1-2 s crash s0\n2-3 s pause s0").ok());
  EXPECT_EQ(check("1-2 s crash s9").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(check("1-2 s crash s0\n1.5-3 s pause s0").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(check("1-2 s crash s0\n1-1 s pause s0").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(check("1-2 s latency amount=2").code(), absl::StatusCode::kUnimplemented);
}

TEST_F(ProcessFaultsTest, KindsThatNeedHostsOrASimulationAreRefused) {
  for (const Kind kind : {Kind::kIsolate, Kind::kClockOffset, Kind::kCut, Kind::kLatency}) {
    EXPECT_FALSE(faults_.Supports(kind));
    EXPECT_EQ(faults_.Begin({.kind = kind, .hosts = {"s0"}}).code(),
              absl::StatusCode::kUnimplemented);
  }
}

}  // namespace
}  // namespace search::chaos
