#include "neptune/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

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

// The modes that a file of the folder had after it was created, from the events of the kernel.
class ModeChanges {
 public:
  explicit ModeChanges(const std::string& folder) : events_(inotify_init1(IN_NONBLOCK)) {
    EXPECT_GE(inotify_add_watch(events_, folder.c_str(), IN_CREATE | IN_ATTRIB), 0);
  }
  ~ModeChanges() { close(events_); }

  // Returns the number of files created and of changes to their attributes since the last call.
  std::pair<int, int> Take() {
    alignas(inotify_event) char bytes[16 << 10];
    std::pair<int, int> counts;
    const ssize_t size = read(events_, bytes, sizeof(bytes));
    for (ssize_t at = 0; at < size;) {
      const auto* const event = reinterpret_cast<const inotify_event*>(bytes + at);
      if ((event->mask & IN_CREATE) != 0) ++counts.first;
      if ((event->mask & IN_ATTRIB) != 0) ++counts.second;
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
    return counts;
  }

 private:
  const int events_;
};

TEST_F(FileTest, FileForItsOwnerNeverHasAnotherMode) {
  const mode_t before = umask(0);
  ModeChanges changes(folder_);
  ASSERT_TRUE(WriteFileAtomically(Path("secret"), "s", FileReaders::kOwner).ok());
  EXPECT_EQ(changes.Take(), std::pair(1, 0)) << "the mode was changed after the creation";
  struct stat info {};
  ASSERT_EQ(stat(Path("secret").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  // A file for everyone is the control: its mode is changed, which is noticed.
  ASSERT_TRUE(WriteFileAtomically(Path("plain"), "p").ok());
  EXPECT_EQ(changes.Take(), std::pair(1, 1));
  ASSERT_EQ(stat(Path("plain").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644u);
  umask(before);
}

TEST_F(FileTest, SecretReplacesAFileThatEveryoneMayRead) {
  ASSERT_TRUE(WriteFileAtomically(Path("f"), "old").ok());
  ASSERT_TRUE(WriteFileAtomically(Path("f"), "new", FileReaders::kOwner).ok());
  struct stat info {};
  ASSERT_EQ(stat(Path("f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(ErrnoStatusTest, FullDiskIsResourceExhausted) {
  EXPECT_EQ(ErrnoStatus(ENOSPC, "write", "/f"),
            ResourceExhausted("write /f: No space left on device"));
}

}  // namespace
}  // namespace neptune
