#include "tools/chaos/disk_faults.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <filesystem>
#include <set>

#include "neptune/base/file.h"
#include "neptune/base/process.h"
#include "neptune/base/strings.h"

namespace search::chaos {
namespace {

namespace fs = std::filesystem;
using neptune::RandomSource;
using neptune::StrCat;
using std::chrono::milliseconds;

constexpr size_t kTextSizeMax = 1 << 20;

double NowS() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class DiskFaultsTest : public testing::Test {
 protected:
  DiskFaultsTest() {
    std::string name = testing::TempDir() + "/disk-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = fs::canonical(name).string();
    fs::create_directories(folder_ + "/data");
    auto made = DiskFaults::Make(folder_ + "/data", folder_ + "/page");
    EXPECT_TRUE(made.ok()) << made.status();
    faults_ = *std::move(made);
  }

  std::string At(const std::string& name) const { return folder_ + "/data/" + name; }

  // Runs a shell's line in a process that has the faults; returns its exit status.
  int Run(const std::string& line) {
    neptune::ProcessOptions options{.command = faults_->command_prefix()};
    for (const std::string& word : {std::string("/bin/sh"), std::string("-c"), line}) {
      options.command.push_back(word);
    }
    auto process = neptune::Process::Start(options);
    EXPECT_TRUE(process.ok()) << process.status();
    return process->Wait().exit_status;
  }
  int Write(const std::string& path, int kib, const std::string& how) {
    return Run(
        StrCat("dd if=/dev/zero of=", path, " bs=1024 count=", kib, " ", how, " 2>/dev/null"));
  }

  std::string folder_;
  std::unique_ptr<DiskFaults> faults_;
};

TEST_F(DiskFaultsTest, FlushesOfTheFolderAreCountedAndDelayed) {
  EXPECT_EQ(Write(At("a"), 4, "conv=fsync"), 0);
  EXPECT_EQ(faults_->flush_count(), 1u);
  faults_->SetFlushDelay(milliseconds(300));
  const double begin = NowS();
  EXPECT_EQ(Write(At("a"), 4, "conv=fdatasync"), 0);
  EXPECT_GE(NowS() - begin, 0.3);
  EXPECT_EQ(faults_->flush_count(), 2u);
  EXPECT_EQ(Write(folder_ + "/outside", 4, "conv=fsync"), 0);
  EXPECT_EQ(faults_->flush_count(), 2u);
}

TEST_F(DiskFaultsTest, ReadsOfTheFolderFail) {
  EXPECT_EQ(Write(At("a"), 4, ""), 0);
  EXPECT_EQ(Write(folder_ + "/outside", 4, ""), 0);
  faults_->SetReadErrors(1);
  EXPECT_NE(Run("cat " + At("a") + " >/dev/null 2>&1"), 0);
  EXPECT_GT(faults_->read_error_count(), 0u);
  EXPECT_EQ(Run("cat " + folder_ + "/outside >/dev/null"), 0);
  faults_->SetReadErrors(0);
  EXPECT_EQ(Run("cat " + At("a") + " >/dev/null"), 0);
}

TEST_F(DiskFaultsTest, WallClockIsMoved) {
  faults_->SetClockOffset(std::chrono::hours(-24));
  EXPECT_EQ(Run("date +%s > " + At("time")), 0);
  const auto text = neptune::ReadFile(At("time"), kTextSizeMax);
  ASSERT_TRUE(text.ok());
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  constexpr double kDayS = 24 * 3600;
  EXPECT_NEAR(std::stod(*text), static_cast<double>(now.tv_sec) - kDayS, 60);
}

TEST_F(DiskFaultsTest, FileSystemOfTheFolderSaysWhatIsSet) {
  faults_->SetFreeSpace(uint64_t{5} << 20);
  const auto free = [&](const std::string& folder) {
    EXPECT_EQ(Run("python3 -c 'import os,sys; s = os.statvfs(sys.argv[1]); "
                  "print(s.f_bavail * s.f_frsize)' " +
                  folder + " > " + folder_ + "/free"),
              0);
    const auto text = neptune::ReadFile(folder_ + "/free", kTextSizeMax);
    EXPECT_TRUE(text.ok());
    return std::stoull(*text);
  };
  EXPECT_EQ(free(folder_ + "/data"), uint64_t{5} << 20);
  EXPECT_NE(free(folder_), uint64_t{5} << 20);
  faults_->SetFreeSpace(std::nullopt);
  EXPECT_NE(free(folder_ + "/data"), uint64_t{5} << 20);
}

TEST_F(DiskFaultsTest, BitsOfTheLogAreOfWhatWasFlushed) {
  RandomSource random(1);
  fs::create_directories(At(".log-files"));
  EXPECT_EQ(Write(At(".log-files/salt-1"), 8, "conv=fsync"), 0);
  EXPECT_EQ(Write(At(".log-files/salt-1"), 8, "oflag=append conv=notrunc"), 0);
  EXPECT_EQ(Write(At(".log-files/salt-2"), 8, ""), 0);
  EXPECT_EQ(Write(At(".log-files/salt-mark"), 8, "conv=fsync"), 0);
  EXPECT_EQ(Write(At("store"), 8, "conv=fsync"), 0);
  for (int i = 0; i < 50; ++i) {
    const auto place = faults_->DrawLogBit(random);
    ASSERT_TRUE(place.ok()) << place.status();
    EXPECT_EQ(place->path, At(".log-files/salt-1"));
    EXPECT_LT(place->offset, 8192u);
  }
}

TEST_F(DiskFaultsTest, OnlyWhatWasNotFlushedIsLost) {
  EXPECT_EQ(Write(At("flushed"), 8, "conv=fsync"), 0);
  EXPECT_EQ(Write(At("half"), 8, "conv=fsync"), 0);
  EXPECT_EQ(Write(At("half"), 8, "oflag=append conv=notrunc"), 0);
  EXPECT_EQ(Write(At("never"), 8, ""), 0);
  EXPECT_EQ(Write(At("always"), 8, "oflag=dsync"), 0);
  std::set<uintmax_t> halves;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    RandomSource random(seed);
    const auto lost = faults_->LoseUnflushed(random);
    ASSERT_TRUE(lost.ok()) << lost.status();
    halves.insert(fs::file_size(At("half")));
  }
  EXPECT_EQ(fs::file_size(At("flushed")), 8192u);
  EXPECT_EQ(fs::file_size(At("always")), 8192u);
  EXPECT_GE(*halves.begin(), 8192u);
  EXPECT_LT(*halves.begin(), 16384u);
  EXPECT_LT(fs::file_size(At("never")), 8192u);
}

TEST_F(DiskFaultsTest, DrawnBitIsOfDataAndFlipsTwiceToTheSameBytes) {
  const std::string bytes(1000, 'd');
  ASSERT_TRUE(neptune::WriteFileAtomically(At("data"), bytes).ok());
  ASSERT_TRUE(neptune::WriteFileAtomically(At("LOG"), std::string(100'000, 'l')).ok());
  RandomSource random(3);
  const auto place = DrawBit(folder_ + "/data", random);
  ASSERT_TRUE(place.ok()) << place.status();
  EXPECT_EQ(place->path, At("data"));
  ASSERT_TRUE(FlipBit(*place).ok());
  const auto flipped = neptune::ReadFile(At("data"), kTextSizeMax);
  ASSERT_TRUE(flipped.ok());
  EXPECT_NE(*flipped, bytes);
  EXPECT_EQ((*flipped)[place->offset] ^ 'd', 1 << place->bit);
  ASSERT_TRUE(FlipBit(*place).ok());
  EXPECT_EQ(*neptune::ReadFile(At("data"), kTextSizeMax), bytes);
}

TEST_F(DiskFaultsTest, FolderWithoutDataHasNoBit) {
  RandomSource random(1);
  EXPECT_EQ(DrawBit(folder_ + "/data", random).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace search::chaos
