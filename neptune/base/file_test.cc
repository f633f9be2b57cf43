#include "neptune/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace neptune {
namespace {

class FileTest : public testing::Test {
 protected:
  FileTest() {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~FileTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ / name; }
  size_t FileCount() const {
    return std::distance(std::filesystem::directory_iterator(folder_), {});
  }

  std::filesystem::path folder_;
};

TEST_F(FileTest, WrittenBytesAreRead) {
  const std::string bytes("a\0b\xff", 4);
  ASSERT_TRUE(WriteFileAtomically(Path("f"), bytes).ok());
  EXPECT_EQ(*ReadFile(Path("f"), 4), bytes);
}

TEST_F(FileTest, EmptyFileIsRead) {
  ASSERT_TRUE(WriteFileAtomically(Path("f"), "").ok());
  EXPECT_EQ(*ReadFile(Path("f"), 0), "");
}

TEST_F(FileTest, ReplacementLeavesOneFile) {
  ASSERT_TRUE(WriteFileAtomically(Path("f"), "old").ok());
  ASSERT_TRUE(WriteFileAtomically(Path("f"), "new").ok());
  EXPECT_EQ(*ReadFile(Path("f"), 100), "new");
  EXPECT_EQ(FileCount(), 1u);
}

TEST_F(FileTest, FileOverTheBoundIsRefusedByName) {
  ASSERT_TRUE(WriteFileAtomically(Path("f"), std::string(100'001, 'x')).ok());
  EXPECT_TRUE(ReadFile(Path("f"), 100'001).ok());
  const Status status = ReadFile(Path("f"), 100'000).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(ToStd(status.message()), "read " + Path("f") + ": more than 100000 bytes");
}

TEST_F(FileTest, FileOfUnknownSizeIsRead) {
  const StatusOr<std::string> bytes = ReadFile("/proc/self/status", 1u << 20);
  ASSERT_TRUE(bytes.ok());
  EXPECT_NE(bytes->find("Pid:"), std::string::npos);
}

TEST_F(FileTest, MissingFileIsNotFoundByName) {
  const std::string message = "open " + Path("none") + ": No such file or directory";
  EXPECT_EQ(ReadFile(Path("none"), 10).status(), NotFound(message));
}

TEST_F(FileTest, FolderIsNotRead) {
  EXPECT_EQ(ReadFile(folder_, 10).status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(FileTest, FailedReplacementLeavesNoFile) {
  std::filesystem::create_directories(Path("occupied/inside"));
  EXPECT_EQ(WriteFileAtomically(Path("occupied"), "x").code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(FileCount(), 1u);
  EXPECT_EQ(WriteFileAtomically(Path("none/f"), "x").code(), StatusCode::kNotFound);
}

TEST(ErrnoStatusTest, FullDiskIsResourceExhausted) {
  EXPECT_EQ(ErrnoStatus(ENOSPC, "write", "/f"),
            ResourceExhausted("write /f: No space left on device"));
}

}  // namespace
}  // namespace neptune
