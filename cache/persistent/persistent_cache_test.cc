// Tests of the persistent cache over a store: the conformance suite, entries that outlive the cache
// object, and eviction by age.

#include "cache/persistent/persistent_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "cache/result_cache_conformance.h"
#include "neptune/base/strings.h"
#include "neptune/world/real/real_world.h"

namespace search::cache {
namespace {

using neptune::StatusOr;
using neptune::StrCat;
using neptune::TimePoint;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Stores in RocksDB, each empty at first.
neptune::DurableStorage& Storage() {
  static const std::unique_ptr<neptune::World> world = [] {
    const std::string folder = testing::TempDir() + "/persistent_cache";
    std::filesystem::remove_all(folder);
    return neptune::MakeRealWorld({.storage_directory = folder});
  }();
  return world->storage();
}

StatusOr<std::unique_ptr<ResultCache>> MakeOverRocksDb(const ResultCacheOptions& options) {
  static int number = 0;
  NEPTUNE_ASSIGN_OR_RETURN(auto store, Storage().Open(StrCat("store-", ++number)));
  return MakePersistentCache(std::move(store), options);
}

INSTANTIATE_TEST_SUITE_P(Persistent, ResultCacheConformance,
                         testing::Values(ResultCacheVariant{kPersistentCacheName,
                                                            &MakeOverRocksDb}),
                         VariantName);

TEST(PersistentCacheTest, EntriesOutliveTheirCache) {
  const TimePoint now(seconds(1));
  for (int life = 0; life < 2; ++life) {
    const auto cache = MakePersistentCache(*Storage().Open("kept"), {});
    const auto found = cache->Lookup({"apple", 1}, now + milliseconds(life));
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->has_value(), life == 1);
    if (*found) {
      EXPECT_EQ(*(*found)->value, "red");
      EXPECT_EQ((*found)->age, milliseconds(1));
    }
    EXPECT_EQ(cache->Stats().entry_count, static_cast<uint64_t>(life));
    EXPECT_TRUE(cache->Insert({"apple", 1}, {"red", {}}, now).ok());
  }
}

TEST(PersistentCacheTest, TheOldestMakeRoom) {
  ResultCacheOptions options;
  options.size_max = 10 * (kPersistentEntryOverhead + 101);
  const auto cache = MakePersistentCache(*Storage().Open("oldest"), options);
  const TimePoint now(seconds(1));
  const auto insert = [&](char query) {
    EXPECT_TRUE(*cache->Insert({std::string(1, query), 1}, {std::string(100, 'v'), {}}, now));
  };
  const auto there = [&](char query) {
    return cache->Lookup({std::string(1, query), 1}, now)->has_value();
  };
  for (char query = 'a'; query < 'k'; ++query) insert(query);
  insert('a');  // is the newest now
  insert('x');
  EXPECT_TRUE(there('a'));
  EXPECT_FALSE(there('b'));
  EXPECT_TRUE(there('c'));
  EXPECT_EQ(cache->Stats().eviction_count, 1u);
}

}  // namespace
}  // namespace search::cache
