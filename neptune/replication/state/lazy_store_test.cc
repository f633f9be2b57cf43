#include "neptune/replication/state/lazy_store.h"

#include <gtest/gtest.h>

#include "neptune/world/sim/sim_storage.h"

namespace neptune {
namespace {

class LazyStoreTest : public testing::Test {
 protected:
  int Count(const KeyValueView& view) {
    int count = 0;
    EXPECT_TRUE(view.Scan({}, [&](auto, auto) { return ++count > 0; }).ok());
    return count;
  }

  SimStorage storage_;
  LazyStore store_{storage_, "s"};
};

TEST_F(LazyStoreTest, IsEmptyAndNotThereBeforeItsFirstWrite) {
  EXPECT_EQ(*store_.Get("k"), std::nullopt);
  EXPECT_TRUE(store_.Sync().ok());
  EXPECT_TRUE(store_.Scan({}, [](auto, auto) { return ADD_FAILURE(), true; }).ok());
  EXPECT_EQ(Count(**store_.OpenView()), 0);
  EXPECT_TRUE(storage_.List()->empty());
}

TEST_F(LazyStoreTest, TheFirstWriteCreatesIt) {
  const auto before = *store_.OpenView();
  ASSERT_TRUE(store_.Put("k", "v", WriteMode::kSynced).ok());
  EXPECT_EQ(*storage_.List(), std::vector<std::string>{"s"});
  EXPECT_EQ(*store_.Get("k"), "v");
  EXPECT_EQ(Count(*before), 0) << "a view does not change";
  EXPECT_EQ(Count(**store_.OpenView()), 1);
  ASSERT_TRUE(store_.Put("l", "v", WriteMode::kBuffered).ok());
  EXPECT_EQ(*store_.Get("l"), "v");
}

TEST_F(LazyStoreTest, AStoreThatCannotBeCreatedIsTriedAgain) {
  auto other = *storage_.Open("s");
  EXPECT_EQ(store_.Put("k", "v", WriteMode::kSynced).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(*store_.Get("k"), std::nullopt);
  other.reset();
  EXPECT_TRUE(store_.Put("k", "v", WriteMode::kSynced).ok());
}

}  // namespace
}  // namespace neptune
