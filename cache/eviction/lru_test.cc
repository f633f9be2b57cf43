#include "cache/eviction/lru.h"

#include <gtest/gtest.h>

#include <vector>

#include "cache/eviction/obvious_entries.h"
#include "cache/eviction/policy_comparison.h"

namespace search::cache {
namespace {

class ObviousLru {
 public:
  explicit ObviousLru(uint64_t size_max) : size_max_(size_max) {}

  void Touch(uint64_t id) {
    ObviousEntry entry;
    if (TakeEntry(&entries_, id, &entry)) PutNewest(&entries_, entry);
  }

  bool Insert(uint64_t id, EntryWeight weight, std::vector<uint64_t>* evicted) {
    Remove(id);
    PutNewest(&entries_, {.id = id, .weight = weight});
    while (size() > size_max_) evicted->push_back(TakeOldest(&entries_).id);
    return true;
  }

  void Remove(uint64_t id) {
    ObviousEntry ignored;
    TakeEntry(&entries_, id, &ignored);
  }

  uint64_t size() const { return SizeOf(entries_); }
  uint64_t entry_count() const { return entries_.size(); }

 private:
  const uint64_t size_max_;
  ObviousEntries entries_;
};

TEST(LruTest, AgreesWithTheReferenceImplementation) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const uint64_t size_max = 50 + seed * 25;
    Lru policy(size_max);
    ObviousLru obvious(size_max);
    ExpectSameDecisions({.size_max = size_max, .seed = seed}, policy, obvious);
  }
}

TEST(LruTest, EvictsTheLeastRecentlyUsed) {
  Lru policy(3);
  std::vector<uint64_t> evicted;
  for (uint64_t id = 0; id < 3; ++id) policy.Insert(id, {.size = 1}, &evicted);
  policy.Touch(0);
  policy.Insert(3, {.size = 2}, &evicted);
  EXPECT_EQ(evicted, (std::vector<uint64_t>{1, 2}));
}

}  // namespace
}  // namespace search::cache
