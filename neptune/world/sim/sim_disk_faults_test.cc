// Faults of a simulated disk, as stores and log files see them.

#include "neptune/world/sim/sim_disk_faults.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "neptune/world/sim/sim_storage.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;

class SimDiskFaultsTest : public testing::Test {
 protected:
  std::unique_ptr<KeyValueStore> OpenStore() { return *storage_.Open("store"); }
  std::unique_ptr<LogFile> OpenLog() { return *storage_.log_files().Open("log"); }

  SimStorage storage_;
  SimDiskFaults& faults_ = storage_.disk_faults();
};

TEST_F(SimDiskFaultsTest, EachFlushOfStoresAndLogsTakesTheDelay) {
  const auto store = OpenStore();
  const auto log = OpenLog();
  faults_.DelayFlushes(milliseconds(20));
  ASSERT_TRUE(store->Put("k", "v", WriteMode::kBuffered).ok());
  ASSERT_TRUE(log->WriteAt(0, "x").ok());
  EXPECT_EQ(faults_.TakeFlushTime(), Duration(0)) << "nothing was flushed";
  ASSERT_TRUE(store->Sync().ok());
  ASSERT_TRUE(store->Put("k", "w", WriteMode::kSynced).ok());
  ASSERT_TRUE(log->Sync().ok());
  EXPECT_EQ(faults_.TakeFlushTime(), milliseconds(60));
  EXPECT_EQ(faults_.TakeFlushTime(), Duration(0));
  EXPECT_EQ(faults_.counts().delayed_flushes, 3u);
}

TEST_F(SimDiskFaultsTest, SomeReadsOfStoresAndLogsFail) {
  const auto store = OpenStore();
  const auto log = OpenLog();
  ASSERT_TRUE(store->Put("k", "v", WriteMode::kSynced).ok());
  ASSERT_TRUE(log->WriteAt(0, "x").ok());
  faults_.FailReadsAtRandom(0.5, /*seed=*/1);
  std::set<StatusCode> codes;
  for (int i = 0; i < 20; ++i) {
    codes.insert(store->Get("k").status().code());
    codes.insert(log->ReadAt(0, 1).status().code());
  }
  EXPECT_EQ(codes, (std::set<StatusCode>{StatusCode::kOk, StatusCode::kUnavailable}));
  EXPECT_GT(faults_.counts().failed_reads, 0u);
  EXPECT_LT(faults_.counts().failed_reads, 40u);
  faults_.FailReadsAtRandom(0, 0);
  EXPECT_TRUE(store->Get("k").ok());
}

TEST_F(SimDiskFaultsTest, NothingOpensWithoutDescriptors) {
  faults_.FailOpens(Unavailable("too many open files"));
  EXPECT_EQ(storage_.Open("store").status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(storage_.log_files().Open("log").status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(faults_.counts().refused_opens, 2u);
  faults_.FailOpens(OkStatus());
  EXPECT_TRUE(storage_.Open("store").ok());
}

TEST_F(SimDiskFaultsTest, CrashInAFlushTearsItAnywhere) {
  const std::string written = "0123456789";
  std::set<std::string> outcomes;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SimStorage storage;
    const auto log = *storage.log_files().Open("log");
    ASSERT_TRUE(log->WriteAt(0, written).ok());
    int crash_count = 0;
    storage.disk_faults().CrashInNextFlush([&] { ++crash_count; });
    EXPECT_FALSE(log->Sync().ok());
    EXPECT_EQ(crash_count, 1);
    EXPECT_FALSE(log->Sync().ok()) << "the machine is about to lose its power";
    EXPECT_FALSE(log->WriteAt(10, "more").ok());
    RandomSource random(seed);
    storage.Crash(random);
    outcomes.insert(storage.log_files().ContentsOf("log"));
    const auto again = *storage.log_files().Open("log");
    EXPECT_TRUE(again->Sync().ok());
  }
  EXPECT_EQ(outcomes.size(), written.size() + 1) << "of every length";
}

TEST_F(SimDiskFaultsTest, CrashInAFlushMayLoseABatchOfAStore) {
  std::set<bool> outcomes;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SimStorage storage;
    auto store = *storage.Open("store");
    storage.disk_faults().CrashInNextFlush([] {});
    EXPECT_FALSE(store->Put("k", "v", WriteMode::kSynced).ok());
    RandomSource random(seed);
    storage.Crash(random);
    store = *storage.Open("store");
    outcomes.insert((*store->Get("k")).has_value());
  }
  EXPECT_EQ(outcomes, (std::set<bool>{false, true}));
}

TEST_F(SimDiskFaultsTest, RefusedWritesAreCounted) {
  const auto store = OpenStore();
  const auto log = OpenLog();
  storage_.FailWrites(ResourceExhausted("no space left"));
  EXPECT_FALSE(store->Put("k", "v", WriteMode::kSynced).ok());
  EXPECT_FALSE(log->WriteAt(0, "x").ok());
  EXPECT_EQ(faults_.counts().refused_writes, 2u);
  EXPECT_EQ((*storage_.Space()).free, 0u);
  storage_.FailWrites(OkStatus());
  EXPECT_EQ((*storage_.Space()).free, UINT64_MAX);
}

// Damages what is stored, many times; returns what was hit.
std::set<std::string> Damages(int count) {
  std::set<std::string> hit;
  for (int seed = 1; seed <= count; ++seed) {
    SimStorage storage;
    const auto store = *storage.Open("store");
    EXPECT_TRUE(store->Put("key", std::string(20, 'v'), WriteMode::kSynced).ok());
    const auto log = *storage.log_files().Open("log");
    const std::string written(20, 'x');
    EXPECT_TRUE(log->WriteAt(0, written).ok());
    RandomSource random(static_cast<uint64_t>(seed));
    EXPECT_TRUE(storage.DamageSomething(random).has_value());
    if (storage.log_files().ContentsOf("log") != written) {
      EXPECT_FALSE(storage.has_damage());
      hit.insert("log");
    } else {
      EXPECT_TRUE(storage.has_damage());
      hit.insert(store->Get("key").ok() ? "whole store" : "value");
    }
  }
  return hit;
}

TEST_F(SimDiskFaultsTest, DamageHitsLogsValuesAndStores) {
  EXPECT_EQ(Damages(100), (std::set<std::string>{"log", "value", "whole store"}));
}

TEST_F(SimDiskFaultsTest, WhatIsWrittenAgainIsNotDamaged) {
  RandomSource random(1);
  EXPECT_FALSE(storage_.DamageSomething(random).has_value()) << "nothing is stored";
  const auto store = OpenStore();
  ASSERT_TRUE(store->Put("k", "v", WriteMode::kSynced).ok());
  ASSERT_TRUE(storage_.DamageValue("store", "k").ok());
  EXPECT_TRUE(storage_.has_damage());
  ASSERT_TRUE(store->Put("k", "v", WriteMode::kSynced).ok());
  EXPECT_FALSE(storage_.has_damage());
}

}  // namespace
}  // namespace neptune
