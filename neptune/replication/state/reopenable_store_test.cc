#include "neptune/replication/state/reopenable_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "neptune/world/sim/sim_storage.h"

namespace neptune {
namespace {

class ReopenableStoreTest : public testing::Test {
 protected:
  std::unique_ptr<KeyValueStore> Open() { return store_.Hold(*storage_.Open("data")); }
  std::vector<std::string> Keys() {
    std::vector<std::string> keys;
    scanned_ = store_.Scan({}, [&](std::string_view key, std::string_view) {
      keys.emplace_back(key);
      return true;
    });
    return keys;
  }

  SimStorage storage_;
  std::vector<Status> damages_;
  ReopenableStore store_{[this](const Status& status) { damages_.push_back(status); }};
  Status scanned_;
};

TEST_F(ReopenableStoreTest, ReadsWhatItsHolderWrites) {
  const auto held = Open();
  ASSERT_TRUE(held->Put("k", "v", WriteMode::kSynced).ok());
  EXPECT_EQ(*store_.Get("k"), "v");
  EXPECT_EQ(Keys(), std::vector<std::string>{"k"});
  EXPECT_EQ(*held->Get("k"), "v");
}

TEST_F(ReopenableStoreTest, IsUnavailableWhileNoStoreIsOpen) {
  EXPECT_EQ(store_.Get("k").status().code(), StatusCode::kUnavailable);
  Open().reset();
  EXPECT_EQ(store_.Get("k").status().code(), StatusCode::kUnavailable);
  Keys();
  EXPECT_EQ(scanned_.code(), StatusCode::kUnavailable);
}

TEST_F(ReopenableStoreTest, ShowsTheStoreThatIsOpenedNext) {
  ASSERT_TRUE(Open()->Put("k", "v", WriteMode::kSynced).ok());
  const auto held = Open();
  EXPECT_EQ(*store_.Get("k"), "v");
}

TEST_F(ReopenableStoreTest, ClosesTheStoreAfterTheReadsInIt) {
  auto held = Open();
  ASSERT_TRUE(held->Put("k", "v", WriteMode::kSynced).ok());
  bool was_open = false;
  ASSERT_TRUE(store_
                  .Scan({},
                        [&](std::string_view, std::string_view) {
                          held.reset();
                          was_open = !storage_.Open("data").ok();
                          return true;
                        })
                  .ok());
  EXPECT_TRUE(was_open);
  EXPECT_TRUE(storage_.Open("data").ok());
}

TEST_F(ReopenableStoreTest, LetsNoReaderWrite) {
  const auto held = Open();
  EXPECT_EQ(store_.Put("k", "v", WriteMode::kSynced).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(store_.Sync().code(), StatusCode::kFailedPrecondition);
}

TEST_F(ReopenableStoreTest, ReportsDamageThatReadersMeet) {
  const auto held = Open();
  ASSERT_TRUE(held->Put("k", "v", WriteMode::kSynced).ok());
  EXPECT_TRUE(storage_.DamageValue("data", "k").ok());
  EXPECT_EQ(store_.Get("k").status().code(), StatusCode::kDataLoss);
  Keys();
  EXPECT_EQ(scanned_.code(), StatusCode::kDataLoss);
  EXPECT_EQ(damages_.size(), 2u);
}

}  // namespace
}  // namespace neptune
