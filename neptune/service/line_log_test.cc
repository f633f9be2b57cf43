#include "neptune/service/line_log.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <time.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "neptune/base/strings.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class LineLogTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    options_.path = folder_ / "log";
  }
  // Runs `body` on a user-level thread to its end.
  void Run(std::function<void()> body) {
    bool ended = false;
    CHECK(scheduler_
              .Spawn([&] {
                body();
                ended = true;
              })
              .ok());
    simulator_.RunFor(seconds(120));
    ASSERT_TRUE(ended);
  }
  std::unique_ptr<LineLog> Open() {
    auto log = LineLog::Open("test", options_, stack_, metrics_);
    CHECK(log.ok()) << log.status();
    return std::move(*log);
  }
  std::string Content(const std::string& ending = "") {
    std::ifstream file(options_.path + ending);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  double Count(const std::string& outcome) {
    return metrics_.Value("neptune_line_log_lines_total", {{"log", "test"}, {"outcome", outcome}})
        .value();
  }

  std::filesystem::path folder_;
  LineLogOptions options_;
  Simulator simulator_{1};
  SimWorld& host_ = simulator_.AddHost({.name = "a"});
  ThreadScheduler scheduler_{**host_.StartLoop({.name = "main"})};
  MetricsRegistry metrics_;
  CapsuleStack stack_;
};

TEST_F(LineLogTest, LinesAreWrittenWithinASecondAndAtTheEnd) {
  Run([&] {
    const auto log = Open();
    log->Append("one");
    log->Append("two");
    EXPECT_EQ(Content(), "");
    this_thread::SleepFor(milliseconds(1100));
    EXPECT_EQ(Content(), "one\ntwo\n");
    log->Append("three");
    log->Close();
    EXPECT_EQ(Content(), "one\ntwo\nthree\n");
  });
  EXPECT_EQ(Count("written"), 3);
}

// Files know real time only: what a share of the age is old at once is there after it is due.
TEST_F(LineLogTest, LinesThatAreTooOldAreRemoved) {
  const auto days_ago = [&](const std::string& ending, int days) {
    const timespec when{.tv_sec = time(nullptr) - days * 86400, .tv_nsec = 0};
    const timespec times[] = {when, when};
    ASSERT_EQ(utimensat(AT_FDCWD, (options_.path + ending).c_str(), times, 0), 0);
  };
  for (const char* const ending : {".1", ".2", ".3"}) {
    std::ofstream(options_.path + ending) << "kept" << ending << "\n";
  }
  days_ago(".1", 5);
  days_ago(".2", 7);  // its last line; its first may be two days and a half older
  days_ago(".3", 40);
  options_.age_max = std::chrono::hours(24 * 10);
  Run([&] {
    const auto log = Open();
    log->Append("new");
    this_thread::SleepFor(milliseconds(1100));
    EXPECT_EQ(Content(), "new\n");
    EXPECT_EQ(Content(".1"), "kept.1\n");
    EXPECT_EQ(Content(".2"), "kept.2\n");
    EXPECT_FALSE(std::filesystem::exists(options_.path + ".3"));
    days_ago(".2", 8);
    this_thread::SleepFor(seconds(50));
    EXPECT_EQ(Content(".2"), "kept.2\n") << "it is looked for once a minute";
    this_thread::SleepFor(seconds(20));
    EXPECT_FALSE(std::filesystem::exists(options_.path + ".2"));
    log->Close();
  });
}

TEST_F(LineLogTest, AFileThatIsNotFullIsRenamedInTime) {
  std::ofstream(options_.path) << "old\n";
  options_.age_max = std::chrono::nanoseconds(4);  // each of four files holds a nanosecond
  Run([&] {
    const auto log = Open();
    this_thread::SleepFor(milliseconds(1100));
    EXPECT_EQ(Content(), "");
    EXPECT_FALSE(std::filesystem::exists(options_.path + ".1")) << "it was renamed, and is too old";
    log->Close();
  });
}

TEST_F(LineLogTest, LinesAreLostWhileTheyMayNotBeWritten) {
  bool may_write = true;
  options_.may_write = [&] { return may_write; };
  Run([&] {
    const auto log = Open();
    log->Append("one");
    this_thread::SleepFor(milliseconds(1100));
    may_write = false;
    log->Append("two");
    this_thread::SleepFor(milliseconds(1100));
    may_write = true;
    log->Append("three");
    log->Close();
  });
  EXPECT_EQ(Content(), "one\nthree\n");
  EXPECT_EQ(Count("written"), 2);
  EXPECT_EQ(Count("lost"), 1);
}

TEST_F(LineLogTest, AnotherRunGoesOnWithTheFile) {
  for (const char* line : {"first", "second"}) {
    Run([&] {
      MetricsRegistry own;
      const auto log = *LineLog::Open("test", options_, stack_, own);
      log->Append(line);
      log->Close();
    });
  }
  EXPECT_EQ(Content(), "first\nsecond\n");
}

TEST_F(LineLogTest, FullFilesMakeRoomAndTheOldestGoes) {
  options_.file_size_max = 10;
  options_.file_count_max = 3;
  Run([&] {
    const auto log = Open();
    for (int i = 0; i < 6; ++i) {
      log->Append(StrCat("line ", i, "!"));
      this_thread::SleepFor(milliseconds(1100));
    }
    log->Close();
  });
  EXPECT_EQ(Content(), "line 5!\n");
  EXPECT_EQ(Content(".1"), "line 4!\n");
  EXPECT_EQ(Content(".2"), "line 3!\n");
  EXPECT_FALSE(std::filesystem::exists(options_.path + ".3"));
}

TEST_F(LineLogTest, WhatDoesNotFitIsLostAndCounted) {
  options_.pending_size_max = 12;
  Run([&] {
    const auto log = Open();
    for (int i = 0; i < 5; ++i) log->Append("12345");
    log->Close();
  });
  EXPECT_EQ(Content(), "12345\n12345\n");
  EXPECT_EQ(Count("lost"), 3);
}

TEST_F(LineLogTest, FolderThatIsNotThereIsRefused) {
  options_.path = folder_ / "nowhere" / "log";
  Run([&] {
    const auto log = LineLog::Open("test", options_, stack_, metrics_);
    EXPECT_THAT(log.status().message(), testing::HasSubstr("nowhere"));
  });
}

TEST_F(LineLogTest, FullDiskLeavesNoHalfLineAndIsCounted) {
  options_.path = "/dev/full";
  Run([&] {
    const auto log = Open();
    log->Append("one");
    log->Close();
  });
  EXPECT_EQ(Count("lost"), 1);
  EXPECT_EQ(Count("written"), 0);
}

}  // namespace
}  // namespace neptune
