// MappedFile of file.h.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "neptune/base/file.h"
#include "neptune/base/notification.h"

namespace neptune {
namespace {

constexpr size_t kPage = 4096;

class MappedFileTest : public testing::Test {
 protected:
  MappedFileTest() {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~MappedFileTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ / name; }

  // Writes the file, with an earlier time of change: two changes within one tick of the kernel's
  // clock look like one.
  void Write(const std::string& name, const std::string& bytes) const {
    ASSERT_TRUE(WriteFileAtomically(Path(name), bytes).ok());
    std::filesystem::last_write_time(
        Path(name), std::filesystem::last_write_time(Path(name)) - std::chrono::seconds(10));
  }
  MappedFile Mapped(const std::string& name) const {
    StatusOr<MappedFile> mapped = MappedFile::Open(Path(name));
    EXPECT_TRUE(mapped.ok()) << mapped.status();
    return *std::move(mapped);
  }
  void Truncate(const std::string& name, size_t size) const {
    ASSERT_EQ(truncate(Path(name).c_str(), static_cast<off_t>(size)), 0);
  }

  std::filesystem::path folder_;
};

size_t ZeroCount(std::string_view bytes) {
  return static_cast<size_t>(std::count(bytes.begin(), bytes.end(), '\0'));
}

TEST_F(MappedFileTest, WrittenBytesAreMapped) {
  const std::string bytes("a\0b\xff", 4);
  Write("f", bytes);
  const MappedFile mapped = Mapped("f");
  EXPECT_EQ(mapped.bytes(), bytes);
  EXPECT_TRUE(mapped.CheckUnchanged().ok());
}

TEST_F(MappedFileTest, EmptyFileGivesEmptyBytes) {
  Write("f", "");
  const MappedFile mapped = Mapped("f");
  EXPECT_EQ(mapped.bytes(), "");
  EXPECT_FALSE(mapped.has_lost_pages());
  EXPECT_TRUE(mapped.CheckUnchanged().ok());
}

TEST_F(MappedFileTest, MappingKeepsTheOldContentsOfAReplacedFile) {
  Write("f", "old");
  const MappedFile mapped = Mapped("f");
  Write("f", "new");
  EXPECT_EQ(mapped.bytes(), "old");
  EXPECT_TRUE(mapped.CheckUnchanged().ok());
}

TEST_F(MappedFileTest, MovedFromMappingIsEmpty) {
  Write("f", "text");
  MappedFile first = Mapped("f");
  const MappedFile second = std::move(first);
  EXPECT_EQ(second.bytes(), "text");
  EXPECT_EQ(first.bytes(), "");
  EXPECT_TRUE(first.CheckUnchanged().ok());
}

TEST_F(MappedFileTest, MissingFileAndFolderAreRefused) {
  const std::string message = "open " + Path("none") + ": No such file or directory";
  EXPECT_EQ(MappedFile::Open(Path("none")).status(), NotFound(message));
  EXPECT_EQ(MappedFile::Open(folder_).status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(MappedFileTest, TruncatedFileReadsAsZerosAndSaysSo) {
  Write("f", std::string(16 * kPage, 'x'));
  const MappedFile mapped = Mapped("f");
  Truncate("f", 3 * kPage);
  EXPECT_FALSE(mapped.has_lost_pages());
  EXPECT_EQ(mapped.bytes()[9 * kPage + 7], '\0');
  EXPECT_TRUE(mapped.has_lost_pages());
  EXPECT_EQ(ZeroCount(mapped.bytes()), 13 * kPage);
  EXPECT_EQ(mapped.CheckUnchanged().code(), StatusCode::kDataLoss);
}

TEST_F(MappedFileTest, ShortenedFileIsNoticedBeforeALostPageIsRead) {
  Write("f", std::string(2 * kPage, 'x'));
  const MappedFile mapped = Mapped("f");
  Truncate("f", kPage);
  EXPECT_EQ(mapped.CheckUnchanged().code(), StatusCode::kDataLoss);
  EXPECT_FALSE(mapped.has_lost_pages());
}

TEST_F(MappedFileTest, WrittenByteIsNoticed) {
  Write("f", std::string(kPage, 'x'));
  const MappedFile mapped = Mapped("f");
  std::fstream(Path("f"), std::ios::in | std::ios::out).seekp(100).put('y').flush();
  EXPECT_EQ(mapped.bytes()[100], 'y');
  EXPECT_EQ(mapped.CheckUnchanged().code(), StatusCode::kDataLoss);
  // It can be opened again as it is now.
  EXPECT_TRUE(Mapped("f").CheckUnchanged().ok());
}

TEST_F(MappedFileTest, LossOfOneFileLeavesTheOthers) {
  Write("lost", std::string(4 * kPage, 'x'));
  Write("kept", std::string(4 * kPage, 'x'));
  const MappedFile lost = Mapped("lost");
  const MappedFile kept = Mapped("kept");
  Truncate("lost", 0);
  EXPECT_EQ(ZeroCount(lost.bytes()), 4 * kPage);
  EXPECT_EQ(ZeroCount(kept.bytes()), 0u);
  EXPECT_FALSE(kept.has_lost_pages());
  EXPECT_TRUE(kept.CheckUnchanged().ok());
}

TEST_F(MappedFileTest, PlaceOfAClosedFileIsUsedAgainWithoutItsLoss) {
  Write("f", std::string(2 * kPage, 'x'));
  {
    const MappedFile mapped = Mapped("f");
    Truncate("f", 0);
    EXPECT_EQ(mapped.bytes()[0], '\0');
  }
  Write("f", std::string(2 * kPage, 'y'));
  EXPECT_FALSE(Mapped("f").has_lost_pages());
}

// Many threads meet the same loss at the same time.
TEST_F(MappedFileTest, ThreadsThatReadLostPagesTogetherAllReadZeros) {
  constexpr size_t kPages = 64;
  Write("f", std::string(kPages * kPage, 'x'));
  const MappedFile mapped = Mapped("f");
  Truncate("f", 0);
  Notification begin;
  std::atomic<size_t> zeros = 0;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      begin.WaitForNotification();
      for (size_t page = 0; page < kPages; ++page) {
        zeros += mapped.bytes()[((page * 7 + i * 16) % kPages) * kPage] == '\0' ? 1 : 0;
      }
    });
  }
  begin.Notify();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(zeros, 4 * kPages);
}

// Reads beyond the end of a file that is mapped without MappedFile.
char ReadUnguarded(const std::string& path) {
  FILE* const file = std::fopen(path.c_str(), "r");
  void* const start = mmap(nullptr, kPage, PROT_READ, MAP_SHARED, fileno(file), 0);
  if (truncate(path.c_str(), 0) != 0) std::abort();
  return *static_cast<const volatile char*>(start);
}

TEST_F(MappedFileTest, FaultElsewhereEndsTheProcessAsWithoutAHandler) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Write("f", std::string(kPage, 'x'));
  Write("other", std::string(kPage, 'x'));
  const auto fault = [&] {
    const MappedFile mapped = Mapped("f");
    (void)ReadUnguarded(Path("other"));
  };
  EXPECT_DEATH(fault(), "");
}

std::atomic<int> foreign_faults = 0;

// Mends the fault as the owner of the mapping would.
void MendForeignFault(int, siginfo_t* info, void*) {
  ++foreign_faults;
  const auto page = reinterpret_cast<uintptr_t>(info->si_addr) / kPage * kPage;
  mmap(reinterpret_cast<void*>(page), kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
       0);
}

TEST_F(MappedFileTest, FaultElsewhereGoesToTheHandlerThatWasThere) {
  struct sigaction foreign = {};
  foreign.sa_sigaction = &MendForeignFault;
  foreign.sa_flags = SA_SIGINFO;
  struct sigaction before = {};
  ASSERT_EQ(sigaction(SIGBUS, &foreign, &before), 0);
  Write("f", std::string(2 * kPage, 'x'));
  Write("other", std::string(kPage, 'x'));
  const MappedFile mapped = Mapped("f");  // sets the handler before the foreign one
  Truncate("f", 0);
  EXPECT_EQ(mapped.bytes()[0], '\0');
  EXPECT_EQ(foreign_faults, 0);
  EXPECT_EQ(ReadUnguarded(Path("other")), '\0');
  EXPECT_EQ(foreign_faults, 1);
  ASSERT_EQ(sigaction(SIGBUS, &before, nullptr), 0);
}

}  // namespace
}  // namespace neptune
