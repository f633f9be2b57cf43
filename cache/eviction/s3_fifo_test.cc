#include "cache/eviction/s3_fifo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cache/eviction/obvious_entries.h"
#include "cache/eviction/policy_comparison.h"

namespace search::cache {
namespace {

class ObviousS3Fifo {
 public:
  explicit ObviousS3Fifo(uint64_t size_max)
      : size_max_(size_max), small_max_(size_max / 10), ghost_max_(size_max - size_max / 10) {}

  void Touch(uint64_t id) {
    for (auto* queue : {&small_, &main_}) {
      for (ObviousEntry& entry : *queue) {
        if (entry.id == id) entry.uses = std::min(entry.uses + 1, 3);
      }
    }
  }

  bool Insert(uint64_t id, EntryWeight weight, std::vector<uint64_t>* evicted) {
    ObviousEntry entry{.id = id};
    ObviousEntries* queue =
        TakeEntry(&ghost_, id, &entry) || TakeEntry(&main_, id, &entry) ? &main_ : &small_;
    TakeEntry(&small_, id, &entry);
    entry.weight = weight;
    while (size() + weight.size > size_max_ && !(small_.empty() && main_.empty())) {
      if (main_.empty() || (!small_.empty() && SizeOf(small_) >= small_max_)) {
        EvictSmall(evicted);
      } else {
        EvictMain(evicted);
      }
    }
    PutNewest(queue, entry);
    return true;
  }

  void Remove(uint64_t id) {
    ObviousEntry ignored;
    TakeEntry(&small_, id, &ignored);
    TakeEntry(&main_, id, &ignored);
  }

  uint64_t size() const { return SizeOf(small_) + SizeOf(main_); }
  uint64_t entry_count() const { return small_.size() + main_.size(); }
  uint64_t ghost_count() const { return ghost_.size(); }

 private:
  void EvictSmall(std::vector<uint64_t>* evicted) {
    while (!small_.empty()) {
      ObviousEntry oldest = TakeOldest(&small_);
      const bool is_promoted = oldest.uses > 1;
      oldest.uses = 0;
      if (is_promoted) {
        PutNewest(&main_, oldest);
        continue;
      }
      evicted->push_back(oldest.id);
      PutNewest(&ghost_, oldest);
      while (SizeOf(ghost_) > ghost_max_) ghost_.pop_back();
      return;
    }
  }

  void EvictMain(std::vector<uint64_t>* evicted) {
    while (!main_.empty()) {
      ObviousEntry oldest = TakeOldest(&main_);
      if (oldest.uses == 0) {
        evicted->push_back(oldest.id);
        return;
      }
      --oldest.uses;
      PutNewest(&main_, oldest);
    }
  }

  const uint64_t size_max_;
  const uint64_t small_max_;
  const uint64_t ghost_max_;
  ObviousEntries small_;
  ObviousEntries main_;
  ObviousEntries ghost_;
};

TEST(S3FifoTest, AgreesWithTheReferenceImplementation) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const uint64_t size_max = 50 + seed * 25;
    S3Fifo policy(size_max);
    ObviousS3Fifo obvious(size_max);
    ExpectSameDecisions({.size_max = size_max, .seed = seed}, policy, obvious);
    EXPECT_EQ(policy.ghost_count(), obvious.ghost_count());
  }
}

TEST(S3FifoTest, EvictsNewEntriesUsedAtMostOnceFirst) {
  S3Fifo policy(10);
  std::vector<uint64_t> evicted;
  for (uint64_t id = 0; id < 10; ++id) policy.Insert(id, {.size = 1}, &evicted);
  EXPECT_TRUE(evicted.empty());
  policy.Touch(0);
  policy.Touch(0);
  policy.Touch(1);
  policy.Insert(10, {.size = 1}, &evicted);  // 0 is promoted, 1 was used only once
  EXPECT_EQ(evicted, std::vector<uint64_t>{1});
  EXPECT_TRUE(policy.Contains(0));
}

TEST(S3FifoTest, RecognisesAReturningEntryByItsGhost) {
  S3Fifo policy(10);
  std::vector<uint64_t> evicted;
  for (uint64_t id = 0; id < 11; ++id) policy.Insert(id, {.size = 1}, &evicted);
  ASSERT_EQ(evicted, std::vector<uint64_t>{0});
  EXPECT_EQ(policy.ghost_count(), 1u);
  policy.Insert(0, {.size = 1}, &evicted);  // to the main queue, in 1's place
  for (uint64_t id = 100; id < 108; ++id) policy.Insert(id, {.size = 1}, &evicted);
  EXPECT_TRUE(policy.Contains(0));
  EXPECT_FALSE(policy.Contains(5));
}

TEST(S3FifoTest, ForgetsGhostsWhenCleared) {
  S3Fifo policy(10);
  std::vector<uint64_t> evicted;
  for (uint64_t id = 0; id < 20; ++id) policy.Insert(id, {.size = 1}, &evicted);
  policy.Clear();
  EXPECT_EQ(policy.ghost_count(), 0u);
}

}  // namespace
}  // namespace search::cache
