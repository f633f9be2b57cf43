#include "index/versions/file_checks.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "neptune/world/sim/simulator.h"

namespace search::index {
namespace {

using neptune::Duration;
using neptune::Status;
using neptune::StatusOr;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kInterval = hours(1);

// Partitions with files of several parts, of which one may be damaged.
class FileChecksTest : public testing::Test {
 protected:
  struct File {
    size_t part_count = 0;
    size_t damaged_part = SIZE_MAX;
    size_t read_count = 0;  // parts, of all passes
  };

  void Start() {
    checks_ = FileChecks::Start(loop_, kInterval, [this] {
      std::vector<FileChecks::Place> places;
      for (auto& [name, file] : files_) {
        places.push_back({.start = [file = &file] { return CheckOf(file); },
                          .on_damage =
                              [this, name = name](const Status& damage) {
                                damaged_.push_back(name);
                                EXPECT_EQ(damage.code(), neptune::StatusCode::kDataLoss);
                              }});
      }
      return places;
    });
  }
  static FileChecks::Check CheckOf(File* file) {
    if (file->part_count == 0) return nullptr;
    return [file, next = size_t{0}](size_t size) mutable -> StatusOr<size_t> {
      if (next == file->part_count) return size_t{0};
      ++file->read_count;
      if (next == file->damaged_part) return neptune::DataLoss("part ", next);
      ++next;
      return size;
    };
  }

  neptune::Simulator simulator_{1};
  neptune::Loop& loop_ = **simulator_.AddHost({.name = "a"}).StartLoop({.name = "low"});
  std::map<std::string, File> files_;
  std::shared_ptr<FileChecks> checks_;
  std::vector<std::string> damaged_;
};

TEST_F(FileChecksTest, ReadsAllFilesOncePerInterval) {
  files_ = {{"a", {.part_count = 40}}, {"b", {.part_count = 0}}, {"c", {.part_count = 3}}};
  Start();
  simulator_.RunFor(kFileCheckFirst - seconds(1));
  EXPECT_EQ(files_["a"].read_count, 0u);
  simulator_.RunFor(minutes(5));
  EXPECT_EQ(files_["a"].read_count, 40u);
  EXPECT_EQ(files_["c"].read_count, 3u);
  EXPECT_EQ(checks_->standing().pass_count, 1u);
  EXPECT_EQ(checks_->standing().checked_size, 43 * kFileCheckPartSize);
  simulator_.RunFor(kInterval);
  EXPECT_EQ(files_["a"].read_count, 80u);
  EXPECT_EQ(checks_->standing().pass_count, 2u);
}

TEST_F(FileChecksTest, ReadsNoFasterThanTheRate) {
  files_ = {{"a", {.part_count = SIZE_MAX}}};
  Start();
  simulator_.RunFor(kFileCheckFirst + seconds(100));
  const size_t size_max = 101 * kFileCheckBytesPerSecond;
  EXPECT_LE(files_["a"].read_count * kFileCheckPartSize, size_max);
  EXPECT_GE(files_["a"].read_count * kFileCheckPartSize, size_max * 9 / 10);
}

TEST_F(FileChecksTest, DamageIsReportedAndTheOthersAreReadOn) {
  files_ = {{"a", {.part_count = 9, .damaged_part = 4}}, {"b", {.part_count = 2}}};
  Start();
  simulator_.RunFor(kFileCheckFirst + minutes(1));
  EXPECT_EQ(damaged_, (std::vector<std::string>{"a"}));
  EXPECT_EQ(files_["a"].read_count, 5u);
  EXPECT_EQ(files_["b"].read_count, 2u);
  EXPECT_EQ(checks_->standing().damage_count, 1u);
}

TEST_F(FileChecksTest, NothingIsReadAfterStop) {
  files_ = {{"a", {.part_count = 1'000'000}}};
  Start();
  simulator_.RunFor(kFileCheckFirst + seconds(10));
  const size_t before = files_["a"].read_count;
  EXPECT_GT(before, 0u);
  checks_->Stop();
  simulator_.RunFor(hours(2));
  EXPECT_EQ(files_["a"].read_count, before);
}

TEST_F(FileChecksTest, PassWithoutPartitionsIsTriedAgain) {
  Start();
  simulator_.RunFor(kFileCheckFirst + seconds(1));
  files_ = {{"a", {.part_count = 2}}};
  simulator_.RunFor(kInterval);
  EXPECT_EQ(files_["a"].read_count, 2u);
}

}  // namespace
}  // namespace search::index
