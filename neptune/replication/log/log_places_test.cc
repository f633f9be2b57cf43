#include "neptune/replication/log/log_places.h"

#include <gtest/gtest.h>

#include <map>

#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"

namespace neptune {
namespace {

TEST(LogPlacesTest, NewPlacesAreEmpty) {
  SegmentUse use;
  const LogPlaces places(use);
  EXPECT_EQ(places.first_lsn(), 1u);
  EXPECT_EQ(places.last_lsn(), 0u);
  EXPECT_FALSE(places.Holds(1));
  EXPECT_TRUE(places.is_whole());
}

TEST(LogPlacesTest, ResizeAddsMissingEntriesThatCanBeFilled) {
  SegmentUse use;
  LogPlaces places(use);
  places.Resize(5, 7);
  EXPECT_FALSE(places.is_whole());
  for (Lsn lsn = 5; lsn <= 7; ++lsn) places.Put(lsn, {1, static_cast<uint32_t>(lsn), 10});
  EXPECT_TRUE(places.is_whole());
  EXPECT_EQ(use.size_of(1), 30u);
  places.Forget();
  EXPECT_EQ(places.first_lsn(), 5u);
  EXPECT_EQ(places.last_lsn(), 7u);
  EXPECT_FALSE(places.is_whole());
  EXPECT_EQ(use.size(), 0u);
}

// Compares with a map from LSN to place.
TEST(LogPlacesTest, RandomChangesMatchTheModel) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    RandomSource random(seed);
    SegmentUse use;
    LogPlaces places(use);
    Lsn first = 1;
    Lsn last = 0;
    std::map<Lsn, LogPlace> model;  // without missing ones
    for (int step = 0; step < 200; ++step) {
      const Lsn some = first + random.Below(last + 2 - first);
      const uint64_t action = random.Below(10);
      if (action < 6) {
        const LogPlace place = {1 + static_cast<uint32_t>(random.Below(3)),
                                static_cast<uint32_t>(random.Below(100)),
                                1 + static_cast<uint32_t>(random.Below(50))};
        places.Put(some, place);
        model[some] = place;
        last = std::max(last, some);
      } else if (action == 6) {
        places.DropFrom(some);
        last = std::min(last, some - 1);
      } else if (action == 7) {
        first = random.Below(8) == 0 ? 1 + random.Below(60) : some;
        last = first - 1 + random.Below(10);
        places.Resize(first, last);
      } else if (action == 8 && random.Below(5) == 0) {
        places.Forget();
        model.clear();
      }
      std::erase_if(model, [&](const auto& one) { return one.first < first || one.first > last; });
      ASSERT_EQ(places.first_lsn(), first);
      ASSERT_EQ(places.last_lsn(), last);
      ASSERT_EQ(places.is_whole(), model.size() == last + 1 - first);
      std::map<uint32_t, uint64_t> sizes;
      for (const auto& [lsn, place] : model) {
        ASSERT_EQ(places.at(lsn), place);
        sizes[place.segment] += place.size;
      }
      for (uint32_t segment = 1; segment <= 3; ++segment) {
        ASSERT_EQ(use.size_of(segment), sizes[segment]);
      }
    }
  }
}

}  // namespace
}  // namespace neptune
