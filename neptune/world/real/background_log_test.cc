#include "neptune/world/real/background_log.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kPatience = seconds(30);

// Before that glog writes to standard error only.
void InitialiseGlog() {
  if (!google::IsGoogleLoggingInitialized()) google::InitGoogleLogging("background_log_test");
}

// A pipe that holds one page.
class BackgroundLogTest : public testing::Test {
 protected:
  BackgroundLogTest() {
    CHECK_EQ(pipe2(ends_.data(), O_CLOEXEC), 0);
    CHECK_EQ(fcntl(ends_[1], F_SETPIPE_SZ, 4096), 4096);
  }
  ~BackgroundLogTest() override {
    log_.reset();
    CloseReader();
    close(ends_[1]);
  }

  BackgroundLog& Open(size_t size_max) {
    log_ = std::make_unique<BackgroundLog>(BackgroundLogOptions{
        .descriptor = ends_[1], .size_max = size_max, .flush_max = milliseconds(10)});
    return *log_;
  }
  void CloseReader() {
    if (ends_[0] >= 0) close(std::exchange(ends_[0], -1));
  }

  // Reads until `end` was read; returns the lines.
  std::vector<std::string> ReadLines(const std::string& end) {
    std::string all;
    std::array<char, 4096> some{};
    while (all.find(end + "\n") == std::string::npos) {
      const ssize_t size = read(ends_[0], some.data(), some.size());
      if (size <= 0) break;
      all.append(some.data(), static_cast<size_t>(size));
    }
    std::vector<std::string> lines;
    for (size_t at = 0; at < all.size();) {
      const size_t line_end = all.find('\n', at);
      lines.push_back(all.substr(at, line_end - at));
      at = line_end + 1;
    }
    return lines;
  }

  std::array<int, 2> ends_{};
  std::unique_ptr<BackgroundLog> log_;
};

TEST_F(BackgroundLogTest, KeepsTheOrder) {
  BackgroundLog& log = Open(1 << 20);
  std::thread appender([&] {
    for (int i = 0; i < 5'000; ++i) log.Append(StrCat("line ", i));
  });
  const auto lines = ReadLines("line 4999");
  appender.join();
  ASSERT_EQ(lines.size(), 5'000u);
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i], StrCat("line ", i));
  EXPECT_EQ(log.dropped_count(), 0);
}

TEST_F(BackgroundLogTest, DropsAndCountsWhileNothingIsRead) {
  BackgroundLog& log = Open(8 * 1024);
  constexpr int kLineCount = 10'000;
  for (int i = 0; i < kLineCount; ++i) log.Append(StrCat("line ", i));  // would hang if it waited
  const int64_t dropped_count = log.dropped_count();
  EXPECT_GT(dropped_count, kLineCount / 2);
  std::vector<std::string> lines;
  std::thread reader([&] { lines = ReadLines("end"); });
  EXPECT_TRUE(log.Flush(kPatience));
  log.Append("end");
  reader.join();
  int64_t reported_count = 0;
  int64_t line_count = 0;
  int previous = -1;
  for (const std::string& line : lines) {
    int number = 0;
    if (sscanf(line.c_str(), "line %d", &number) == 1) {
      EXPECT_GT(number, previous);
      previous = number;
      ++line_count;
    } else if (sscanf(line.c_str(), "%d log lines were dropped", &number) == 1) {
      reported_count += number;
    }
  }
  EXPECT_EQ(reported_count, dropped_count);
  EXPECT_EQ(line_count + dropped_count, kLineCount);
}

TEST_F(BackgroundLogTest, EndsThoughNothingIsRead) {
  BackgroundLog& log = Open(1 << 20);
  for (int i = 0; i < 10'000; ++i) log.Append(StrCat("line ", i));
  EXPECT_FALSE(log.Flush(milliseconds(1)));
  log_.reset();  // would hang
}

TEST_F(BackgroundLogTest, CountsWhatTheDescriptorRefuses) {
  BackgroundLog& log = Open(1 << 20);
  CloseReader();
  for (int i = 0; i < 3; ++i) log.Append("this is not read");
  EXPECT_TRUE(log.Flush(kPatience));
  EXPECT_EQ(log.dropped_count(), 3);
}

TEST_F(BackgroundLogTest, CutsALineThatIsTooLong) {
  BackgroundLog& log = Open(1 << 20);
  std::vector<std::string> lines;
  std::thread reader([&] { lines = ReadLines("end"); });
  log.Append(std::string(2 * kLogLineSizeMax, 'x'));
  log.Append("end");
  reader.join();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].size(), kLogLineSizeMax);
}

TEST_F(BackgroundLogTest, TakesTheMessagesOfGlog) {
  InitialiseGlog();
  {
    LogsInBackground logs({.descriptor = ends_[1]});
    LOG(INFO) << "first";
    LOG(WARNING) << "second";
  }
  log_ = std::make_unique<BackgroundLog>(BackgroundLogOptions{.descriptor = ends_[1]});
  log_->Append("end");
  const std::vector<std::string> lines = ReadLines("end");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[0].find("background_log_test.cc"), std::string::npos) << lines[0];
  EXPECT_EQ(lines[0].substr(lines[0].size() - 7), "] first");
  EXPECT_EQ(lines[1].substr(lines[1].size() - 8), "] second");
}

TEST(LogsInBackgroundTest, FatalMessagesReachStandardError) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto die = [] {
    InitialiseGlog();
    LogsInBackground logs;
    LOG(INFO) << "before";
    CHECK(false) << "last words";
  };
  EXPECT_DEATH(die(), "before\n.*last words");
}

// Standard error is a full pipe: without a reader the process could not end.
TEST(LogsInBackgroundTest, FatalMessagesEndTheProcessThoughStandardErrorIsFull) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto die = [] {
    std::array<int, 2> ends{};
    CHECK_EQ(pipe2(ends.data(), O_NONBLOCK), 0);
    while (write(ends[1], "x", 1) == 1) {
    }
    fcntl(ends[1], F_SETFL, 0);  // blocking again
    dup2(ends[1], STDERR_FILENO);
    InitialiseGlog();
    LogsInBackground logs({.flush_max = milliseconds(10)});
    LOG(FATAL) << "last words";
  };
  EXPECT_EXIT(die(), testing::KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace neptune
