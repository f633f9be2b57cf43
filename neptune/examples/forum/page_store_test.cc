// Which pages a cache server keeps, and how long.

#include "neptune/examples/forum/page_store.h"

#include <gtest/gtest.h>

namespace neptune::examples {
namespace {

using std::chrono::seconds;

const TimePoint kBegin{};

TEST(PageStoreTest, FindsTheLatestVersion) {
  PageStore store(2);
  store.Store("a", "first", kBegin);
  store.Store("a", "second", kBegin);
  EXPECT_EQ(store.Find("a", kBegin), "second");
  EXPECT_EQ(store.Find("b", kBegin), std::nullopt);
  EXPECT_EQ(store.size(), 1u);
}

TEST(PageStoreTest, TheLeastRecentlyUsedPageIsEvicted) {
  PageStore store(3);
  for (const char* const name : {"a", "b", "c"}) store.Store(name, name, kBegin);
  EXPECT_TRUE(store.Find("a", kBegin));
  store.Store("d", "d", kBegin);
  EXPECT_TRUE(store.Find("a", kBegin));
  EXPECT_FALSE(store.Find("b", kBegin));
  EXPECT_TRUE(store.Find("c", kBegin));
  EXPECT_TRUE(store.Find("d", kBegin));
}

TEST(PageStoreTest, ForgetsAPageAfterItsLifetime) {
  PageStore store(3);
  store.Store("a", "a", kBegin);
  EXPECT_TRUE(store.Find("a", kBegin + kPageLifetime - seconds(1)));
  EXPECT_FALSE(store.Find("a", kBegin + kPageLifetime));
  EXPECT_EQ(store.size(), 0u);
}

TEST(PageStoreTest, DropRemovesThePage) {
  PageStore store(3);
  store.Store("a", "a", kBegin);
  store.Drop("a");
  store.Drop("b");
  EXPECT_FALSE(store.Find("a", kBegin));
}

TEST(PageStoreTest, StoresNothingWithCapacityZero) {
  PageStore store(0);
  store.Store("a", "a", kBegin);
  EXPECT_FALSE(store.Find("a", kBegin));
}

}  // namespace
}  // namespace neptune::examples
