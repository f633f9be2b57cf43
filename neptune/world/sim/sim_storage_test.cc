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

// Stores with a planted bug.
class BrokenStore : public KeyValueStore {
 public:
  explicit BrokenStore(std::unique_ptr<KeyValueStore> good) : good_(std::move(good)) {}

  StatusOr<std::optional<std::string>> Get(std::string_view key) const override {
    return good_->Get(key);
  }
  Status Sync() override { return good_->Sync(); }
  Status Scan(const ScanOptions& options, const Visitor& visitor) const override {
    return good_->Scan(options, visitor);
  }
  StatusOr<std::unique_ptr<KeyValueView>> OpenView() const override { return good_->OpenView(); }

 protected:
  const std::unique_ptr<KeyValueStore> good_;
};

class NeverSyncs : public BrokenStore {
 public:
  using BrokenStore::BrokenStore;
  Status Write(const WriteBatch& batch, WriteMode) override {
    return good_->Write(batch, WriteMode::kBuffered);
  }
};

class TearsBatches : public BrokenStore {
 public:
  using BrokenStore::BrokenStore;
  Status Write(const WriteBatch& batch, WriteMode mode) override {
    for (const WriteBatch::Operation& operation : batch.operations()) {
      WriteBatch torn;
      if (operation.kind == WriteBatch::Operation::Kind::kDelete) {
        torn.Delete(operation.key);
      } else {
        torn.Put(operation.key, operation.value);
      }
      NEPTUNE_RETURN_IF_ERROR(good_->Write(torn, mode));
    }
    return OkStatus();
  }
};

template <typename Broken>
class BrokenHarness : public SimHarness, private DurableStorage {
 public:
  DurableStorage& storage() override { return *this; }

 private:
  StatusOr<std::unique_ptr<KeyValueStore>> Open(std::string_view name) override {
    NEPTUNE_ASSIGN_OR_RETURN(auto good, SimHarness::storage().Open(name));
    return std::make_unique<Broken>(std::move(good));
  }
  Status Destroy(std::string_view name) override { return SimHarness::storage().Destroy(name); }
  StatusOr<std::vector<std::string>> List() const override { return Unimplemented("list"); }
  LogFiles& log_files() override { return SimHarness::storage().log_files(); }
};

template <typename Broken>
StatusCode FirstFault() {
  BrokenHarness<Broken> harness;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const Status status = RunToCrash(harness, seed).status();
    if (!status.ok()) return status.code();
  }
  return StatusCode::kOk;
}

TEST(StorageCanaryTest, ForgottenSyncIsFound) {
  EXPECT_EQ(FirstFault<NeverSyncs>(), StatusCode::kDataLoss);
}

TEST(StorageCanaryTest, TornBatchIsFound) {
  EXPECT_EQ(FirstFault<TearsBatches>(), StatusCode::kDataLoss);
}

TEST(SimStorageTest, StoreOpenedBeforeTheCrashIsUnavailable) {
  SimStorage storage;
  RandomSource random(1);
  const auto before = *storage.Open("s");
  storage.Crash(random);
  EXPECT_EQ(before->Get("k").status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(before->Put("k", "v", WriteMode::kSynced).code(), StatusCode::kUnavailable);
  EXPECT_EQ(before->Sync().code(), StatusCode::kUnavailable);
  EXPECT_EQ(before->Scan({}, [](auto, auto) { return true; }).code(), StatusCode::kUnavailable);
}

TEST(SimStorageTest, StoresOfAKilledProcessReopenWithoutLoss) {
  SimStorage storage;
  const auto store = *storage.Open("a");
  ASSERT_TRUE(store->Put("k", "v", WriteMode::kBuffered).ok());
  storage.EndProcess();
  EXPECT_EQ(store->Put("k", "w", WriteMode::kBuffered).code(), StatusCode::kUnavailable);
  const auto reopened = storage.Open("a");
  ASSERT_TRUE(reopened.ok()) << reopened.status();
  EXPECT_EQ(*(*reopened)->Get("k"), "v");
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

TEST(SimStorageTest, StoresShareTheSpaceOfTheDisk) {
  SimStorage storage;
  EXPECT_EQ(storage.Space()->free, UINT64_MAX);
  storage.LimitSpace(100);
  const auto one = *storage.Open("one");
  const auto other = *storage.Open("other");
  EXPECT_TRUE(one->Put("a", std::string(59, 'x'), WriteMode::kSynced).ok());
  EXPECT_EQ(storage.Space()->free, 40u);
  EXPECT_EQ(other->Put("b", std::string(40, 'x'), WriteMode::kSynced).code(),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(*other->Get("b"), std::nullopt);
  EXPECT_TRUE(other->Put("b", std::string(39, 'x'), WriteMode::kSynced).ok());
  EXPECT_EQ(storage.Space()->free, 0u);
  storage.LimitSpace(200);
  EXPECT_TRUE(one->Put("a", "y", WriteMode::kSynced).ok());
  EXPECT_EQ(storage.Space()->free, 200u - 40 - 2);
  WriteBatch batch;
  batch.DeleteRange("a", "z");
  EXPECT_TRUE(one->Write(batch, WriteMode::kBuffered).ok());
  EXPECT_EQ(storage.Space()->free, 160u);
}

TEST(SimStorageTest, SpaceThatOthersTakeIsSaidAndRefusesNothing) {
  SimStorage storage;
  storage.SaySpace(DiskSpace{.total = 100, .free = 1});
  EXPECT_EQ(storage.Space()->free, 1u);
  const auto store = *storage.Open("s");
  EXPECT_TRUE(store->Put("k", std::string(50, 'x'), WriteMode::kSynced).ok());
  storage.SaySpace(std::nullopt);
  EXPECT_EQ(storage.Space()->free, UINT64_MAX);
}

TEST(SimStorageTest, FailedReadsAndOpeningsChangeNothing) {
  SimStorage storage;
  const auto store = *storage.Open("s");
  EXPECT_TRUE(store->Put("k", "v", WriteMode::kSynced).ok());
  storage.FailReads(Unavailable("input/output error"));
  storage.FailOpens(Unavailable("too many open files"));
  EXPECT_EQ(store->Get("k").status(), Unavailable("read store s: input/output error"));
  EXPECT_EQ(store->Scan({}, [](auto, auto) { return true; }).code(), StatusCode::kUnavailable);
  EXPECT_EQ(storage.Open("t").status(), Unavailable("open store t: too many open files"));
  storage.FailReads(OkStatus());
  storage.FailOpens(OkStatus());
  EXPECT_EQ(*store->Get("k"), "v");
  EXPECT_TRUE(storage.Open("t").ok());
}

TEST(SimStorageTest, DamagedValueIsReportedUntilItIsWrittenAgain) {
  SimStorage storage;
  const auto store = *storage.Open("s");
  for (const char* key : {"k", "l", "m"}) {
    EXPECT_TRUE(store->Put(key, "v", WriteMode::kSynced).ok());
    EXPECT_TRUE(storage.DamageValue("s", key).ok());
  }
  EXPECT_EQ(storage.DamageValue("s", "absent").code(), StatusCode::kNotFound);
  EXPECT_EQ(store->Get("k").status().code(), StatusCode::kDataLoss);
  EXPECT_EQ(store->Scan({}, [](auto, auto) { return true; }).code(), StatusCode::kDataLoss);
  EXPECT_TRUE(store->Put("k", "w", WriteMode::kSynced).ok());
  EXPECT_EQ(*store->Get("k"), "w");
  WriteBatch rest;
  rest.DeleteRange("l", "z");
  EXPECT_TRUE(store->Write(rest, WriteMode::kSynced).ok());
  EXPECT_TRUE(store->Scan({}, [](auto, auto) { return true; }).ok());
}

TEST(SimStorageTest, DamagedStoreIsNotOpenedUntilItIsDestroyed) {
  SimStorage storage;
  EXPECT_TRUE((*storage.Open("s"))->Put("k", "v", WriteMode::kSynced).ok());
  EXPECT_TRUE(storage.DamageStore("s").ok());
  EXPECT_EQ(storage.DamageStore("absent").code(), StatusCode::kNotFound);
  EXPECT_EQ(storage.Open("s").status().code(), StatusCode::kDataLoss);
  EXPECT_TRUE(storage.Destroy("s").ok());
  EXPECT_EQ(*(*storage.Open("s"))->Get("k"), std::nullopt);
}

TEST(SimStorageTest, InterceptedWriteHasNoEffectAndOthersSucceed) {
  SimStorage storage;
  const auto a = *storage.Open("a");
  const auto b = *storage.Open("b");
  std::string seen;
  storage.Intercept([&](std::string_view store, WriteMode mode) {
    StrAppend(&seen, store, mode == WriteMode::kSynced ? "! " : " ");
    return store == "a" ? Unavailable("the disk refuses") : OkStatus();
  });
  EXPECT_EQ(a->Put("k", "v", WriteMode::kBuffered).code(), StatusCode::kUnavailable);
  EXPECT_TRUE(b->Put("k", "v", WriteMode::kSynced).ok());
  EXPECT_TRUE(b->Sync().ok());
  storage.Intercept(nullptr);
  EXPECT_EQ(*a->Get("k"), std::nullopt);
  EXPECT_EQ(seen, "a b! b! ");
}

TEST(SimStorageTest, ViewOpenedBeforeACrashIsUnavailable) {
  SimStorage storage;
  RandomSource random(1);
  const auto store = *storage.Open("s");
  const auto view = *store->OpenView();
  storage.Crash(random);
  EXPECT_EQ(view->Scan({}, [](auto, auto) { return true; }).code(), StatusCode::kUnavailable);
  EXPECT_EQ(store->OpenView().status().code(), StatusCode::kUnavailable);
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
