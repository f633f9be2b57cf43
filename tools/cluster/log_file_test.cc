#include "tools/cluster/log_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>

#include "neptune/base/file.h"

namespace search::tools {
namespace {

class LogFileTest : public testing::Test {
 protected:
  LogFileTest()
      : path_(std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove(path_);
    std::filesystem::remove(path_ + ".1");
  }

  static void Append(const neptune::Descriptor& log, std::string_view text) {
    ASSERT_EQ(write(log.number(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  static std::string Contents(const std::string& path) {
    return neptune::ReadFile(path, 1000).value_or("absent");
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(stat(path.c_str(), &info), 0);
    return info.st_mode & 0777;
  }

  const std::string path_;
};

TEST_F(LogFileTest, IsNotForEveryone) {
  const mode_t before = umask(0);
  ASSERT_TRUE(OpenLog(path_).ok());
  EXPECT_EQ(ModeOf(path_), 0640u);
  ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  ASSERT_TRUE(OpenLog(path_).ok());
  EXPECT_EQ(ModeOf(path_), 0640u);
  umask(before);
}

TEST_F(LogFileTest, TheNodeWritesOnAfterTheLogWasCut) {
  const auto log = OpenLog(path_);
  ASSERT_TRUE(log.ok()) << log.status();
  Append(*log, "12345\n");
  ASSERT_TRUE(BoundLog(path_, 6).ok());
  EXPECT_EQ(Contents(path_), "12345\n") << "not larger than its limit";
  Append(*log, "6\n");
  ASSERT_TRUE(BoundLog(path_, 6).ok());
  EXPECT_EQ(Contents(path_), "");
  EXPECT_EQ(Contents(path_ + ".1"), "12345\n6\n");
  EXPECT_EQ(ModeOf(path_ + ".1"), 0640u);
  Append(*log, "next\n");
  EXPECT_EQ(Contents(path_), "next\n");
  ASSERT_TRUE(BoundLog(path_, 1).ok());
  EXPECT_EQ(Contents(path_ + ".1"), "next\n") << "the one before is replaced";
}

TEST_F(LogFileTest, AnAbsentLogIsEmpty) { EXPECT_TRUE(BoundLog(path_, 0).ok()); }

}  // namespace
}  // namespace search::tools
