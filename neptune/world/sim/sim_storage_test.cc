#include "neptune/world/sim/sim_storage.h"

#include <gtest/gtest.h>

#include <set>

#include "neptune/world/storage_conformance.h"

namespace neptune {
namespace {

class SimHarness : public StorageHarness {
 public:
  DurableStorage& storage() override { return storage_; }
  void Crash(uint64_t seed) override {
    RandomSource random(seed);
    storage_.Crash(random);
  }

 private:
  SimStorage storage_;
};

INSTANTIATE_TEST_SUITE_P(Sim, StorageConformanceTest,
                         testing::Values([] { return std::make_unique<SimHarness>(); }));

TEST(SimStorageTest, StoreOfBeforeTheCrashIsUnavailable) {
  SimStorage storage;
  RandomSource random(1);
  const auto before = *storage.Open("s");
  storage.Crash(random);
  EXPECT_EQ(before->Get("k").status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(before->Put("k", "v", WriteMode::kSynced).code(), StatusCode::kUnavailable);
  EXPECT_EQ(before->Sync().code(), StatusCode::kUnavailable);
  EXPECT_EQ(before->Scan({}, [](auto, auto) { return true; }).code(), StatusCode::kUnavailable);
}

TEST(SimStorageTest, LateEndOfACrashedStoreDoesNotCloseItsSuccessor) {
  SimStorage storage;
  RandomSource random(1);
  auto before = *storage.Open("s");
  storage.Crash(random);
  const auto after = *storage.Open("s");
  before.reset();
  EXPECT_EQ(storage.Open("s").status().code(), StatusCode::kFailedPrecondition);
}

TEST(SimStorageTest, CrashesReachEveryPointOfTheUnsyncedWrites) {
  std::set<int> kept_counts;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SimStorage storage;
    RandomSource random(seed);
    const auto before = *storage.Open("s");
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(before->Put(StrCat(i), "", WriteMode::kBuffered).ok());
    }
    EXPECT_EQ(storage.unsynced_count(), 4u);
    storage.Crash(random);
    int kept_count = 0;
    ASSERT_TRUE((*storage.Open("s"))->Scan({}, [&](auto, auto) { return ++kept_count > 0; }).ok());
    kept_counts.insert(kept_count);
  }
  EXPECT_EQ(kept_counts, (std::set<int>{0, 1, 2, 3, 4}));
}

TEST(SimStorageTest, SameSeedLosesTheSame) {
  const auto kept = [](uint64_t seed) {
    SimStorage storage;
    RandomSource random(seed);
    const auto before = *storage.Open("s");
    for (int i = 0; i < 50; ++i) {
      EXPECT_TRUE(before->Put("n", StrCat(i), WriteMode::kBuffered).ok());
    }
    storage.Crash(random);
    return (*storage.Open("s"))->Get("n")->value_or("none");
  };
  EXPECT_EQ(kept(3), kept(3));
}

TEST(SimStorageTest, FullDiskFailsWritesAndChangesNothing) {
  SimStorage storage;
  const auto store = *storage.Open("s");
  storage.FailWrites(ResourceExhausted("no space left"));
  EXPECT_EQ(store->Put("k", "v", WriteMode::kBuffered),
            ResourceExhausted("write to store s: no space left"));
  EXPECT_EQ(store->Sync().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(*store->Get("k"), std::nullopt);
  storage.FailWrites(OkStatus());
  EXPECT_TRUE(store->Put("k", "v", WriteMode::kSynced).ok());
}

TEST(SimStorageTest, UnsyncedWritesAreBounded) {
  SimStorage storage;
  const auto store = *storage.Open("s");
  for (size_t i = 0; i < kUnsyncedCountMax + 1; ++i) {
    ASSERT_TRUE(store->Put("k", "v", WriteMode::kBuffered).ok());
  }
  EXPECT_LE(storage.unsynced_count(), kUnsyncedCountMax);
}

}  // namespace
}  // namespace neptune
