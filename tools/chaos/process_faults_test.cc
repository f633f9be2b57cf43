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

TEST_F(ProcessFaultsTest, KindsThatNeedHostsOrASimulationAreRefused) {
  for (const Kind kind : {Kind::kIsolate, Kind::kClockOffset, Kind::kCut, Kind::kLatency}) {
    EXPECT_FALSE(faults_.Supports(kind));
    EXPECT_EQ(faults_.Begin({.kind = kind, .hosts = {"s0"}}).code(),
              absl::StatusCode::kUnimplemented);
  }
}

}  // namespace
}  // namespace search::chaos
