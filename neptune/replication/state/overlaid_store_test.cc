#include "neptune/replication/state/overlaid_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/sim_storage.h"

namespace neptune {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

std::string AnyKey(RandomSource& random) {
  // Some begin with a byte above 127: keys are compared as unsigned bytes.
  const std::string tail = StrCat(random.Below(4));
  return (random.Below(3) == 0 ? std::string(1, '\xe4') : std::string("k")) + tail;
}

WriteBatch AnyChanges(RandomSource& random) {
  WriteBatch batch;
  for (uint64_t count = random.Below(4); count > 0; --count) {
    const std::string key = AnyKey(random);
    switch (random.Below(5)) {
      case 0:
        batch.Delete(key);
        break;
      case 1:
        batch.DeleteRange(key, AnyKey(random));
        break;
      default:
        batch.Put(key, StrCat("v", random.Below(1000)));
    }
  }
  return batch;
}

ScanOptions AnyBounds(RandomSource& random) {
  ScanOptions options;
  if (random.Below(2) == 0) options.first = AnyKey(random);
  if (random.Below(2) == 0) options.end = AnyKey(random);
  options.backward = random.Below(2) == 0;
  return options;
}

// At most `count_max` entries.
Entries EntriesOf(const KeyValueStore& store, const ScanOptions& options, size_t count_max) {
  Entries entries;
  const Status status = store.Scan(options, [&](std::string_view key, std::string_view value) {
    entries.emplace_back(key, value);
    return entries.size() < count_max;
  });
  EXPECT_TRUE(status.ok()) << status;
  return entries;
}

class OverlaidStoreTest : public testing::Test {
 protected:
  SimStorage storage_;
  std::unique_ptr<KeyValueStore> store_ = *storage_.Open("store");
  OverlaidStore overlay_{*store_};
};

// Compares with a store to which each change is written at once.
TEST(OverlaidStoreModelTest, ReadsAsIfEachChangeWereWritten) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    RandomSource random(seed);
    SimStorage storage;
    const auto store = *storage.Open("store");
    const auto written = *storage.Open("written");
    for (int run = 0; run < 4; ++run) {
      OverlaidStore overlay(*store);
      for (uint64_t count = random.Below(6); count > 0; --count) {
        const WriteBatch changes = AnyChanges(random);
        ASSERT_TRUE(written->Write(changes, WriteMode::kBuffered).ok());
        overlay.Add(changes);
        const std::string key = AnyKey(random);
        ASSERT_EQ(*overlay.Get(key), *written->Get(key)) << key;
        const ScanOptions bounds = AnyBounds(random);
        const size_t count_max = 1 + random.Below(12);
        ASSERT_EQ(EntriesOf(overlay, bounds, count_max), EntriesOf(*written, bounds, count_max));
      }
      ASSERT_TRUE(store->Write(overlay.batch(), WriteMode::kBuffered).ok());
      ASSERT_EQ(EntriesOf(*store, {}, 100), EntriesOf(*written, {}, 100));
    }
  }
}

TEST_F(OverlaidStoreTest, ChangedValuesAreThoseOfTheChangesOnly) {
  ASSERT_TRUE(store_->Put("a", "stored", WriteMode::kBuffered).ok());
  WriteBatch changes;
  changes.Put("b", "changed");
  changes.Put("c", "changed");
  changes.Delete("c");
  overlay_.Add(std::move(changes));
  EXPECT_EQ(overlay_.Changed("a"), std::nullopt);
  EXPECT_EQ(overlay_.Changed("b"), "changed");
  EXPECT_EQ(overlay_.Changed("c"), std::nullopt);
}

TEST_F(OverlaidStoreTest, IsFullWithManyBytesOrRanges) {
  EXPECT_FALSE(overlay_.IsFull());
  WriteBatch large;
  large.Put("k", std::string(OverlaidStore::kSizeMax, 'x'));
  overlay_.Add(std::move(large));
  EXPECT_TRUE(overlay_.IsFull());
  OverlaidStore ranges(*store_);
  for (size_t i = 0; i < OverlaidStore::kRangeCountMax; ++i) {
    EXPECT_FALSE(ranges.IsFull());
    WriteBatch range;
    range.DeleteRange("a", "b");
    ranges.Add(std::move(range));
  }
  EXPECT_TRUE(ranges.IsFull());
}

TEST_F(OverlaidStoreTest, ErrorsOfTheStoreAreReported) {
  WriteBatch changes;
  changes.Put("b", "changed");
  overlay_.Add(std::move(changes));
  storage_.FailReads(Unavailable("the disk does not answer"));
  EXPECT_EQ(overlay_.Get("a").status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(**overlay_.Get("b"), "changed") << "it is not read from there";
  EXPECT_EQ(overlay_.Scan({}, [](auto, auto) { return true; }).code(), StatusCode::kUnavailable);
}

TEST_F(OverlaidStoreTest, IsNotWrittenTo) {
  EXPECT_EQ(overlay_.Write({}, WriteMode::kBuffered).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(overlay_.Sync().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(overlay_.OpenView().status().code(), StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace neptune
