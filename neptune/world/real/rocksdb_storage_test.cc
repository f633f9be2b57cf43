#include "neptune/world/real/rocksdb_storage.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include "neptune/world/random_source.h"
#include "neptune/world/storage_conformance.h"

namespace neptune {
namespace {

namespace fs = std::filesystem;

fs::path FreshFolder() {
  static int count = 0;
  const fs::path folder = fs::path(testing::TempDir()) / StrCat("rocksdb", ++count);
  fs::remove_all(folder);
  return folder;
}

// A crash is a copy of the directory taken while the database is open, with the log cut or filled
// with garbage from a random point after its synced part.
class RocksDbHarness : public StorageHarness {
 public:
  RocksDbHarness() { Use(FreshFolder()); }
  ~RocksDbHarness() override {
    past_.clear();
    for (const fs::path& folder : folders_) fs::remove_all(folder);
  }

  DurableStorage& storage() override { return *past_.back(); }
  void AfterSync() override { synced_sizes_ = LogSizes(); }
  void Crash(uint64_t seed) override {
    RandomSource random(seed);
    const fs::path old_folder = folders_.back();
    const std::map<fs::path, uint64_t> synced_sizes = synced_sizes_;
    const std::map<fs::path, uint64_t> sizes = LogSizes();
    Use(FreshFolder());
    fs::copy(old_folder, folders_.back(), fs::copy_options::recursive);
    for (const auto& [path, size] : sizes) {
      const auto synced = synced_sizes.find(path);
      Tear(folders_.back() / path, synced == synced_sizes.end() ? 0 : synced->second, size, random);
    }
    synced_sizes_ = LogSizes();
  }

 private:
  void Use(const fs::path& folder) {
    folders_.push_back(folder);
    past_.push_back(MakeRocksDbStorage(folder));
  }

  std::map<fs::path, uint64_t> LogSizes() const {
    std::map<fs::path, uint64_t> sizes;
    if (!fs::exists(folders_.back())) return sizes;
    for (const auto& entry : fs::recursive_directory_iterator(folders_.back())) {
      if (entry.path().extension() != ".log") continue;
      sizes[fs::relative(entry.path(), folders_.back())] = entry.file_size();
    }
    return sizes;
  }

  static void Tear(const fs::path& path, uint64_t synced, uint64_t size, RandomSource& random) {
    const uint64_t kept = synced + random.Below(size - synced + 1);
    fs::resize_file(path, kept);
    if (random.Below(2) == 0) return;
    std::ofstream file(path, std::ios::binary | std::ios::app);
    for (uint64_t i = kept; i < size; ++i) file.put(static_cast<char>(random.Next()));
  }

  std::vector<fs::path> folders_;
  std::vector<std::unique_ptr<DurableStorage>> past_;
  std::map<fs::path, uint64_t> synced_sizes_;
};

INSTANTIATE_TEST_SUITE_P(RocksDb, StorageConformanceTest,
                         testing::Values([] { return std::make_unique<RocksDbHarness>(); }));

TEST(RocksDbStorageTest, StoreOutlivesItsStorage) {
  const fs::path folder = FreshFolder();
  auto storage = MakeRocksDbStorage(folder / "deep" / "inside");
  const auto store = *storage->Open("s");
  storage.reset();
  EXPECT_TRUE(store->Put("k", "v", WriteMode::kSynced).ok());
}

TEST(RocksDbStorageTest, SecondOwnerOfTheFolderIsRefused) {
  const fs::path folder = FreshFolder();
  const auto first = MakeRocksDbStorage(folder);
  const auto second = MakeRocksDbStorage(folder);
  const auto store = *first->Open("s");
  EXPECT_EQ(second->Open("s").status().code(), StatusCode::kUnavailable);
}

TEST(RocksDbStorageTest, DamagedStoreIsDataLoss) {
  const fs::path folder = FreshFolder();
  const auto storage = MakeRocksDbStorage(folder);
  ASSERT_TRUE((*storage->Open("s"))->Put("k", "v", WriteMode::kSynced).ok());
  std::ofstream(folder / "s" / "CURRENT") << "rubbish";
  EXPECT_EQ(storage->Open("s").status().code(), StatusCode::kDataLoss);
}

TEST(RocksDbStorageTest, FolderThatCannotBeIsRefusedByName) {
  const fs::path folder = FreshFolder();
  std::ofstream(folder) << "a file";
  const Status status = MakeRocksDbStorage(folder / "below")->Open("s").status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find(folder.string()), absl::string_view::npos);
}

TEST(RocksDbStorageTest, ThreadsWriteTogether) {
  const auto storage = MakeRocksDbStorage(FreshFolder());
  const auto store = *storage->Open("s");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&store, t] {
      for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(store->Put(StrCat(t, "/", i), "v", WriteMode::kBuffered).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int count = 0;
  ASSERT_TRUE(store->Scan({}, [&](auto, auto) { return ++count > 0; }).ok());
  EXPECT_EQ(count, 400);
}

}  // namespace
}  // namespace neptune
