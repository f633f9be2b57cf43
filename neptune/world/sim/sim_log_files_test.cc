#include "neptune/world/sim/sim_log_files.h"

#include <gtest/gtest.h>

#include <set>

#include "neptune/base/strings.h"
#include "neptune/world/log_files_conformance.h"
#include "neptune/world/random_source.h"

namespace neptune {
namespace {

class SimLogFilesHarness : public LogFilesHarness {
 public:
  LogFiles& files() override { return files_; }
  void EndProcess() override { files_.EndProcess(); }

 private:
  SimLogFiles files_;
};

INSTANTIATE_TEST_SUITE_P(Simulated, LogFilesConformanceTest,
                         testing::Values([] { return std::make_unique<SimLogFilesHarness>(); }));

TEST(SimLogFilesTest, CrashKeepsWhatWasSyncedAndAnyPartOfTheRest) {
  std::set<std::string> outcomes;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SimLogFiles files;
    const auto file = *files.Open("f");
    ASSERT_TRUE(file->WriteAt(0, "synced").ok());
    ASSERT_TRUE(file->Sync().ok());
    ASSERT_TRUE(file->WriteAt(6, "AB").ok());
    ASSERT_TRUE(file->WriteAt(0, "S").ok());
    RandomSource random(seed);
    files.Crash(random);
    outcomes.insert(files.ContentsOf("f"));
  }
  EXPECT_EQ(outcomes, (std::set<std::string>{"synced", "syncedA", "syncedAB", "Synced", "SyncedA",
                                             "SyncedAB"}));
}

TEST(SimLogFilesTest, CrashMayUndoACut) {
  std::set<std::string> outcomes;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SimLogFiles files;
    const auto file = *files.Open("f");
    ASSERT_TRUE(file->WriteAt(0, "0123456789").ok());
    ASSERT_TRUE(file->Sync().ok());
    ASSERT_TRUE(file->Truncate(3).ok());
    RandomSource random(seed);
    files.Crash(random);
    outcomes.insert(files.ContentsOf("f"));
  }
  EXPECT_EQ(outcomes, (std::set<std::string>{"0123456789", "012"}));
}

TEST(SimLogFilesTest, OpenFilesEndWithTheProcess) {
  SimLogFiles files;
  const auto file = *files.Open("f");
  ASSERT_TRUE(file->WriteAt(0, "x").ok());
  files.EndProcess();
  EXPECT_EQ(file->WriteAt(1, "y").code(), StatusCode::kUnavailable);
  EXPECT_EQ(file->Sync().code(), StatusCode::kUnavailable);
  EXPECT_EQ(file->ReadAt(0, 1).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(files.ContentsOf("f"), "x") << "the system keeps what a killed process wrote";
}

TEST(SimLogFilesTest, FailedSyncMakesNothingDurable) {
  SimLogFiles files;
  const auto file = *files.Open("f");
  ASSERT_TRUE(file->WriteAt(0, "lost").ok());
  files.FailSyncs(Unavailable("input/output error"));
  EXPECT_FALSE(file->Sync().ok());
  EXPECT_EQ(file->ReadAt(0, 4).value(), "lost") << "it can be read";
  std::set<size_t> sizes;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SimLogFiles copy;
    const auto again = *copy.Open("f");
    ASSERT_TRUE(again->WriteAt(0, "lost").ok());
    RandomSource random(seed);
    copy.Crash(random);
    sizes.insert(copy.ContentsOf("f").size());
  }
  EXPECT_EQ(sizes, (std::set<size_t>{0, 1, 2, 3, 4}));
}

TEST(SimLogFilesTest, FullDiskTakesNothingAndCanBeRead) {
  SimLogFiles files;
  const auto file = *files.Open("f");
  ASSERT_TRUE(file->WriteAt(0, "kept").ok());
  files.FailWrites(ResourceExhausted("no space left"));
  EXPECT_EQ(file->WriteAt(4, "x").code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(files.Open("g").status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(file->ReadAt(0, 9).value(), "kept");
  files.FailWrites(OkStatus());
  EXPECT_TRUE(file->WriteAt(4, "x").ok());
}

TEST(SimLogFilesTest, DamageIsWhereItWasMade) {
  SimLogFiles files;
  const auto file = *files.Open("f");
  ASSERT_TRUE(file->WriteAt(0, "aaaa").ok());
  files.FlipBit("f", 2, 1);
  EXPECT_EQ(file->ReadAt(0, 4).value(), "aaca");
  files.MakeUnreadable("f", 1, 2);
  EXPECT_EQ(file->ReadAt(0, 4).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(file->ReadAt(0, 1).value(), "a");
  EXPECT_EQ(file->ReadAt(3, 9).value(), "a");
  files.MakeUnreadable("f", 0, 0);
  EXPECT_EQ(file->ReadAt(0, 4).value(), "aaca");
}

TEST(SimLogFilesTest, OnlyWhatIsDurableDecaysUntilItIsWrittenAgain) {
  SimLogFiles files;
  const auto file = *files.Open("f");
  const auto other = *files.Open("other");
  ASSERT_TRUE(other->WriteAt(0, "bbbb").ok());
  ASSERT_TRUE(other->Sync().ok());
  RandomSource random(1);
  const auto is_f = [](std::string_view name) { return name == "f"; };
  EXPECT_FALSE(files.Decay(random, is_f).has_value());
  ASSERT_TRUE(file->WriteAt(0, "a").ok());
  EXPECT_FALSE(files.Decay(random, is_f).has_value()) << "not synced";
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(file->WriteAt(1, "aaaa").ok());
  const auto decayed = files.Decay(random, is_f);
  ASSERT_TRUE(decayed.has_value());
  EXPECT_EQ(decayed->offset, 0u);
  EXPECT_NE(file->ReadAt(0, 1).value(), "a");
  EXPECT_TRUE(files.Holds(*decayed));
  ASSERT_TRUE(file->WriteAt(0, "a").ok());
  EXPECT_FALSE(files.Holds(*decayed));
  ASSERT_TRUE(files.Remove("f").ok());
  EXPECT_FALSE(files.Holds(*decayed));
}

}  // namespace
}  // namespace neptune
