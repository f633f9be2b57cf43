#include "tools/chaos/process_faults.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <optional>

#include "neptune/base/file.h"
#include "neptune/base/process.h"

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

class DiskProcessFaultsTest : public testing::Test {
 protected:
  // The process writes and flushes all the time.
  DiskProcessFaultsTest() {
    std::string name = testing::TempDir() + "/faults-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = std::filesystem::canonical(name).string() + "/data";
    std::filesystem::create_directories(folder_);
    auto made = DiskFaults::Make(folder_, folder_ + "/../page");
    EXPECT_TRUE(made.ok()) << made.status();
    disk_ = *std::move(made);
    EXPECT_TRUE(neptune::WriteFileAtomically(folder_ + "/old", std::string(1000, 'o')).ok());
    std::vector<std::string> command = disk_->command_prefix();
    const std::string loop = "while true; do dd if=/dev/zero of=" + folder_ +
                             "/new bs=1024 count=1 oflag=append conv=notrunc,fsync; done";
    for (const std::string& word : {std::string("/bin/sh"), std::string("-c"), loop}) {
      command.push_back(word);
    }
    process_.emplace(command, folder_ + "/../process.log");
    EXPECT_TRUE(process_->Start().ok());
  }

  ProcessFaults Faults(bool other_is_whole) {
    std::map<std::string, FaultyNode> nodes;
    nodes["s0"] = {.process = &*process_, .disk = disk_.get()};
    nodes["s1"] = {.process = &*process_, .disk = disk_.get(), .is_whole = [other_is_whole] {
                     return other_is_whole;
                   }};
    return ProcessFaults(std::move(nodes), nullptr, 1);
  }

  std::string folder_;
  std::unique_ptr<DiskFaults> disk_;
  std::optional<ServerProcess> process_;
};

TEST_F(DiskProcessFaultsTest, SlowFlushesAndClockOutlastACrash) {
  ProcessFaults faults = Faults(true);
  EXPECT_TRUE(faults.Begin({.kind = Kind::kSlowFlush, .hosts = {"s0"}, .amount = 0.25}).ok());
  EXPECT_TRUE(faults.Begin({.kind = Kind::kCrash, .hosts = {"s0"}}).ok());
  EXPECT_TRUE(faults.End({.kind = Kind::kCrash, .hosts = {"s0"}}).ok());
  EXPECT_EQ(disk_->flush_delay(), std::chrono::milliseconds(250));
  EXPECT_TRUE(faults.End({.kind = Kind::kSlowFlush, .hosts = {"s0"}, .amount = 0.25}).ok());
  EXPECT_EQ(disk_->flush_delay(), neptune::Duration(0));
}

TEST_F(DiskProcessFaultsTest, BitFlipsWhileTheProcessIsDown) {
  ProcessFaults faults = Faults(true);
  const Fault flip = {.kind = Kind::kBitFlip, .hosts = {"s0"}};
  EXPECT_TRUE(faults.Begin(flip).ok());
  EXPECT_FALSE(process_->lives());
  EXPECT_NE(faults.note().find("bit"), std::string::npos) << faults.note();
  EXPECT_TRUE(faults.End(flip).ok());
  EXPECT_TRUE(process_->lives());
}

TEST_F(DiskProcessFaultsTest, NoBitFlipsWhileAnotherNodeIsNotWhole) {
  ProcessFaults faults = Faults(false);
  EXPECT_TRUE(faults.Begin({.kind = Kind::kBitFlip, .hosts = {"s0"}}).ok());
  EXPECT_EQ(faults.note(), "no bit flipped: another node has not healed");
  EXPECT_EQ(*neptune::ReadFile(folder_ + "/old", 10'000), std::string(1000, 'o'));
}

TEST_F(DiskProcessFaultsTest, ADecayedBitIsKnownUntilTheFileIsGoneOrWrittenAgain) {
  ProcessFaults faults = Faults(true);
  const Fault decay = {.kind = Kind::kLogDecay, .hosts = {"s0"}};
  EXPECT_TRUE(faults.Begin(decay).ok());
  EXPECT_EQ(faults.note(), "nothing decays: the log is empty");
  const std::string log = folder_ + "/.log-files";
  std::filesystem::create_directories(log);
  std::vector<std::string> command = disk_->command_prefix();
  for (const std::string& word :
       {std::string("/bin/dd"), std::string("if=/dev/zero"), "of=" + log + "/salt-1",
        std::string("bs=1024"), std::string("count=4"), std::string("conv=fsync")}) {
    command.push_back(word);
  }
  auto writer = neptune::Process::Start({.command = command});
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_EQ(writer->Wait().exit_status, 0);
  EXPECT_TRUE(faults.Begin(decay).ok());
  EXPECT_TRUE(process_->lives());
  EXPECT_EQ(faults.UnfoundDecays(), std::vector<std::string>{faults.note()});
  EXPECT_TRUE(faults.End(decay).ok());
  const Fault other = {.kind = Kind::kBitFlip, .hosts = {"s1"}};
  EXPECT_TRUE(faults.Begin(other).ok());
  EXPECT_EQ(faults.note(), "no bit flipped: another node has not healed");
  std::filesystem::remove(log + "/salt-1");
  EXPECT_TRUE(faults.UnfoundDecays().empty());
}

TEST_F(DiskProcessFaultsTest, NoReadFailsWhileAnotherNodeIsNotWhole) {
  ProcessFaults faults = Faults(false);
  const Fault errors = {.kind = Kind::kReadErrors, .hosts = {"s0"}, .amount = 1};
  EXPECT_TRUE(faults.Begin(errors).ok());
  EXPECT_EQ(faults.note(), "no read fails: another node has not healed");
  EXPECT_TRUE(faults.End(errors).ok());
  EXPECT_TRUE(process_->lives());
}

TEST_F(DiskProcessFaultsTest, CrashInFlushEndsTheProcessAndLeavesTheFlushedBytes) {
  while (disk_->flush_count() < 5) {
  }
  ProcessFaults faults = Faults(true);
  const Fault crash = {.kind = Kind::kCrashInFlush, .hosts = {"s0"}};
  const auto begin = faults.Begin(crash);
  EXPECT_TRUE(begin.ok()) << begin;
  EXPECT_FALSE(process_->lives());
  // The first flushes had ended long before.
  EXPECT_GE(std::filesystem::file_size(folder_ + "/new"), 4u * 1024);
  EXPECT_TRUE(faults.End(crash).ok());
}

TEST_F(ProcessFaultsTest, KindsThatNeedMoreThanAProcessAreRefused) {
  for (const Kind kind : {Kind::kIsolate, Kind::kClockOffset, Kind::kSlowFlush, Kind::kFloodShort,
                          Kind::kHungLoop, Kind::kBlockedLog, Kind::kCut, Kind::kLatency}) {
    EXPECT_FALSE(faults_.Supports(kind));
    EXPECT_EQ(faults_.Begin({.kind = kind, .hosts = {"s0"}}).code(),
              absl::StatusCode::kUnimplemented);
  }
}

}  // namespace
}  // namespace search::chaos
