#include "neptune/world/storage_conformance.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "neptune/world/random_source.h"

namespace neptune {
namespace {

constexpr WriteMode kBuffered = WriteMode::kBuffered;
constexpr WriteMode kSynced = WriteMode::kSynced;

using Entries = std::vector<std::pair<std::string, std::string>>;

// `store`: a store, or a view of one.
template <typename Store>
Entries EntriesOf(const Store& store, const ScanOptions& options) {
  Entries entries;
  const Status status = store.Scan(options, [&](std::string_view key, std::string_view value) {
    entries.emplace_back(key, value);
    return true;
  });
  EXPECT_TRUE(status.ok()) << status;
  return entries;
}

std::string KeyOf(uint64_t number) { return StrCat("key", number); }

// Reference model: the contents after a sequence of operations.
class Model {
 public:
  explicit Model(uint64_t seed) : random_(seed) {}

  WriteBatch RandomBatch() {
    WriteBatch batch;
    const uint64_t count = 1 + random_.Below(4);
    for (uint64_t i = 0; i < count; ++i) AddRandomOperation(&batch);
    return batch;
  }
  std::string RandomKey() { return KeyOf(random_.Below(60)); }
  ScanOptions RandomBounds() {
    ScanOptions options;
    if (random_.Below(4) > 0) options.first = RandomKey();
    if (random_.Below(4) > 0) options.end = RandomKey();
    options.backward = random_.Below(2) == 1;
    return options;
  }
  Entries Expected(const ScanOptions& options) const {
    Entries entries;
    for (const auto& [key, value] : contents_) {
      const bool inside = key >= options.first && (!options.end || key < *options.end);
      if (inside) entries.emplace_back(key, value);
    }
    if (options.backward) std::reverse(entries.begin(), entries.end());
    return entries;
  }
  RandomSource& random() { return random_; }
  const std::map<std::string, std::string>& contents() const { return contents_; }

 private:
  void AddRandomOperation(WriteBatch* batch) {
    const std::string key = RandomKey();
    switch (random_.Below(8)) {
      case 0:
      case 1:
        batch->Delete(key);
        contents_.erase(key);
        break;
      case 2: {
        const std::string end = RandomKey();
        batch->DeleteRange(key, end);
        std::erase_if(contents_,
                      [&](const auto& entry) { return entry.first >= key && entry.first < end; });
        break;
      }
      default:
        contents_[key] = StrCat("value", random_.Below(1000));
        batch->Put(key, contents_[key]);
    }
  }

  RandomSource random_;
  std::map<std::string, std::string> contents_;
};

using Contents = std::map<std::string, std::string>;

StatusOr<Contents> ContentsOf(const KeyValueStore& store) {
  Contents contents;
  NEPTUNE_RETURN_IF_ERROR(store.Scan({}, [&](std::string_view key, std::string_view value) {
    contents.emplace(key, value);
    return true;
  }));
  return contents;
}

// Oracle for a crash: the contents after each batch, and the number of synced batches.
struct History {
  std::vector<Contents> states;
  size_t synced_count = 0;
};

// Writes batches of several operations each, so that a torn batch is visible.
StatusOr<History> WriteRandomly(StorageHarness& harness, KeyValueStore& store,
                                RandomSource& random) {
  NEPTUNE_ASSIGN_OR_RETURN(Contents before, ContentsOf(store));
  History history = {{std::move(before)}};
  const uint64_t batch_count = 5 + random.Below(30);
  for (uint64_t i = 0; i < batch_count; ++i) {
    WriteBatch batch;
    batch.Put(KeyOf(i), std::string(random.Below(300), 'x'));
    if (i >= 3) batch.Delete(KeyOf(i - 3));
    batch.Put("newest", StrCat(random.Next()));
    const bool sync = random.Below(10) == 0;
    NEPTUNE_RETURN_IF_ERROR(store.Write(batch, sync ? kSynced : kBuffered));
    NEPTUNE_ASSIGN_OR_RETURN(Contents after, ContentsOf(store));
    history.states.push_back(std::move(after));
    if (!sync) continue;
    harness.AfterSync();
    history.synced_count = i + 1;
  }
  return history;
}

StatusOr<CrashRun> Judge(const History& history, const KeyValueStore& store) {
  NEPTUNE_ASSIGN_OR_RETURN(const Contents contents, ContentsOf(store));
  const auto kept = std::find(history.states.begin(), history.states.end(), contents);
  if (kept == history.states.end()) return DataLoss("no state between two batches");
  const CrashRun run = {.written_count = history.states.size() - 1,
                        .kept_count = static_cast<size_t>(kept - history.states.begin())};
  if (run.kept_count >= history.synced_count) return run;
  return DataLoss("kept ", run.kept_count, " batches of ", history.synced_count, " synced");
}

}  // namespace

StatusOr<CrashRun> RunToCrash(StorageHarness& harness, uint64_t seed) {
  RandomSource random(seed);
  const std::string name = StrCat("store", seed);
  CrashRun run;
  for (int crash = 0; crash < 2; ++crash) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto store, harness.storage().Open(name));
    NEPTUNE_ASSIGN_OR_RETURN(const History history, WriteRandomly(harness, *store, random));
    harness.Crash(random.Next());
    NEPTUNE_ASSIGN_OR_RETURN(const auto recovered, harness.storage().Open(name));
    StatusOr<CrashRun> judged = Judge(history, *recovered);
    if (!judged.ok()) return Annotate(judged.status(), StrCat("seed ", seed, " crash ", crash));
    run = *judged;
  }
  return run;
}

std::unique_ptr<KeyValueStore> StorageConformanceTest::Open(std::string_view name) {
  StatusOr<std::unique_ptr<KeyValueStore>> store = harness_->storage().Open(name);
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? std::move(*store) : nullptr;
}

TEST_P(StorageConformanceTest, WrittenValueIsRead) {
  const auto store = Open();
  ASSERT_TRUE(store->Put("k", "v", kBuffered).ok());
  EXPECT_EQ(*store->Get("k"), "v");
  EXPECT_EQ(*store->Get("other"), std::nullopt);
}

TEST_P(StorageConformanceTest, AnyBytesAreKeysAndValues) {
  const auto store = Open();
  const std::string bytes("\0\xff\n", 3);
  ASSERT_TRUE(store->Put(bytes, bytes, kBuffered).ok());
  ASSERT_TRUE(store->Put("", "", kBuffered).ok());
  EXPECT_EQ(*store->Get(bytes), bytes);
  EXPECT_EQ(*store->Get(""), "");
}

TEST_P(StorageConformanceTest, KeysAreOrderedAsUnsignedBytes) {
  const auto store = Open();
  for (const char* key : {"\xff", "a", "\x7f", "\x80", "aa"}) {
    ASSERT_TRUE(store->Put(key, "", kBuffered).ok());
  }
  std::vector<std::string> keys;
  for (const auto& [key, value] : EntriesOf(*store, {})) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"a", "aa", "\x7f", "\x80", "\xff"}));
}

TEST_P(StorageConformanceTest, LaterOperationOfABatchWins) {
  const auto store = Open();
  WriteBatch batch;
  batch.Put("a", "1");
  batch.Delete("a");
  batch.Put("b", "1");
  batch.Put("b", "2");
  batch.Put("c", "1");
  batch.DeleteRange("c", "d");
  batch.DeleteRange("e", "d");
  ASSERT_TRUE(store->Write(batch, kBuffered).ok());
  EXPECT_EQ(*ContentsOf(*store), (Contents{{"b", "2"}}));
}

TEST_P(StorageConformanceTest, VisitorEndsTheScan) {
  const auto store = Open();
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(store->Put(key, "", kBuffered).ok());
  int visit_count = 0;
  ASSERT_TRUE(store->Scan({}, [&](auto, auto) { return ++visit_count < 2; }).ok());
  EXPECT_EQ(visit_count, 2);
}

TEST_P(StorageConformanceTest, RandomOperationsMatchTheModel) {
  auto store = Open();
  Model model(11);
  for (int i = 0; i < 600; ++i) {
    const WriteBatch batch = model.RandomBatch();
    ASSERT_TRUE(store->Write(batch, i % 100 == 0 ? kSynced : kBuffered).ok());
    const ScanOptions bounds = model.RandomBounds();
    ASSERT_EQ(EntriesOf(*store, bounds), model.Expected(bounds)) << "step " << i;
    const std::string key = model.RandomKey();
    const auto expected = model.contents().find(key);
    ASSERT_EQ(*store->Get(key), expected == model.contents().end()
                                    ? std::nullopt
                                    : std::optional<std::string>(expected->second));
    if (i % 200 != 199) continue;
    store.reset();
    store = Open();
  }
}

TEST_P(StorageConformanceTest, ViewsShowTheirMomentWhateverIsWrittenLater) {
  const auto store = Open();
  Model model(12);
  struct Opened {
    std::unique_ptr<KeyValueView> view;
    Model then;
  };
  std::vector<Opened> opened;
  for (int i = 0; i < 400; ++i) {
    if (i % 40 == 0) opened.push_back({*store->OpenView(), model});
    if (opened.size() > 3) opened.erase(opened.begin());
    ASSERT_TRUE(store->Write(model.RandomBatch(), i % 100 == 0 ? kSynced : kBuffered).ok());
    const ScanOptions bounds = model.RandomBounds();
    for (const Opened& past : opened) {
      ASSERT_EQ(EntriesOf(*past.view, bounds), past.then.Expected(bounds)) << "step " << i;
    }
    ASSERT_EQ(EntriesOf(*store, bounds), model.Expected(bounds)) << "step " << i;
  }
}

TEST_P(StorageConformanceTest, ViewIsReadInTurnsWhileItsStoreIsEmptied) {
  const auto store = Open();
  for (int i = 100; i < 200; ++i) ASSERT_TRUE(store->Put(KeyOf(i), "v", kBuffered).ok());
  const auto view = *store->OpenView();
  std::string next;
  int count = 0;
  for (int turn = 0; turn < 10; ++turn) {
    WriteBatch batch;
    batch.DeleteRange("", KeyOf(100 + 20 * turn));
    ASSERT_TRUE(store->Write(batch, kBuffered).ok());
    int left = 10;
    ASSERT_TRUE(view->Scan({.first = next},
                           [&](std::string_view key, std::string_view) {
                             next = StrCat(key, std::string_view("\0", 1));
                             ++count;
                             return --left > 0;
                           })
                    .ok());
  }
  EXPECT_EQ(count, 100);
  EXPECT_TRUE(ContentsOf(*store)->empty());
}

TEST_P(StorageConformanceTest, StoreCountsAsOpenWhileAViewOfItExists) {
  auto store = Open();
  ASSERT_TRUE(store->Put("k", "v", kBuffered).ok());
  auto view = *store->OpenView();
  store.reset();
  EXPECT_EQ(EntriesOf(*view, {}), (Entries{{"k", "v"}}));
  EXPECT_EQ(harness_->storage().Open("store").status().code(), StatusCode::kFailedPrecondition);
  view.reset();
  EXPECT_EQ(*Open()->Get("k"), "v");
}

TEST_P(StorageConformanceTest, StoresAreApartAndListed) {
  const auto a = Open("a");
  const auto b = Open("b-1.x_2");
  ASSERT_TRUE(a->Put("k", "of a", kBuffered).ok());
  EXPECT_EQ(*b->Get("k"), std::nullopt);
  EXPECT_EQ(*harness_->storage().List(), (std::vector<std::string>{"a", "b-1.x_2"}));
}

TEST_P(StorageConformanceTest, ClosedStoreKeepsItsContents) {
  ASSERT_TRUE(Open()->Put("k", "v", kBuffered).ok());
  EXPECT_EQ(*Open()->Get("k"), "v");
}

TEST_P(StorageConformanceTest, OpenStoreIsNeitherOpenedTwiceNorDestroyed) {
  auto store = Open();
  DurableStorage& storage = harness_->storage();
  EXPECT_EQ(storage.Open("store").status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(storage.Destroy("store").code(), StatusCode::kFailedPrecondition);
  store.reset();
  EXPECT_TRUE(storage.Open("store").ok());
}

TEST_P(StorageConformanceTest, DestroyedStoreIsEmptyAndNotListed) {
  ASSERT_TRUE(Open()->Put("k", "v", kSynced).ok());
  ASSERT_TRUE(harness_->storage().Destroy("store").ok());
  EXPECT_TRUE(harness_->storage().List()->empty());
  EXPECT_TRUE(harness_->storage().Destroy("store").ok());
  EXPECT_TRUE(ContentsOf(*Open())->empty());
}

TEST_P(StorageConformanceTest, BadNamesAreRefused) {
  for (const std::string name : {"", ".", "..", ".a", "a/b", "A", "a b", "\xc3\xa9"}) {
    EXPECT_EQ(harness_->storage().Open(name).status().code(), StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(harness_->storage().Destroy(name).code(), StatusCode::kInvalidArgument) << name;
  }
  EXPECT_FALSE(harness_->storage().Open(std::string(101, 'a')).ok());
}

TEST_P(StorageConformanceTest, OversizedBatchChangesNothing) {
  const auto store = Open();
  WriteBatch batch;
  batch.Put("small", "v");
  batch.Put(std::string(kStorageKeySizeMax + 1, 'k'), "v");
  EXPECT_EQ(store->Write(batch, kSynced).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(store->Put("k", std::string(kStorageValueSizeMax + 1, 'v'), kSynced).code(),
            StatusCode::kInvalidArgument);
  EXPECT_TRUE(ContentsOf(*store)->empty());
}

TEST_P(StorageConformanceTest, SyncedWriteSurvivesACrash) {
  auto store = Open();
  ASSERT_TRUE(store->Put("buffered before", "1", kBuffered).ok());
  ASSERT_TRUE(store->Put("synced", "2", kSynced).ok());
  harness_->AfterSync();
  harness_->Crash(5);
  store.reset();
  EXPECT_EQ(*ContentsOf(*Open()), (Contents{{"buffered before", "1"}, {"synced", "2"}}));
}

TEST_P(StorageConformanceTest, SyncMakesEarlierWritesSurvive) {
  auto store = Open();
  ASSERT_TRUE(store->Sync().ok());
  ASSERT_TRUE(store->Put("a", "1", kBuffered).ok());
  ASSERT_TRUE(store->Sync().ok());
  harness_->AfterSync();
  harness_->Crash(6);
  store.reset();
  EXPECT_EQ(*ContentsOf(*Open()), (Contents{{"a", "1"}}));
}

TEST_P(StorageConformanceTest, CrashKeepsAPrefixOfWholeBatches) {
  std::set<size_t> lost_counts;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const StatusOr<CrashRun> run = RunToCrash(*harness_, seed);
    ASSERT_TRUE(run.ok()) << run.status();
    lost_counts.insert(run->written_count - run->kept_count);
  }
  EXPECT_GT(lost_counts.size(), 1u) << "the harness never lost a different number of batches";
}

}  // namespace neptune
