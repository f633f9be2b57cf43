#include "cache/eviction/greedy_dual.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cache/eviction/gdsf.h"
#include "cache/eviction/lfu.h"
#include "cache/eviction/policy_comparison.h"

namespace search::cache {
namespace {

class ObviousGreedyDual {
 public:
  ObviousGreedyDual(uint64_t size_max, GreedyDual::ValueOfUse value)
      : size_max_(size_max), value_(value) {}

  void Touch(uint64_t id) {
    for (Entry& entry : entries_) {
      if (entry.id == id) Use(&entry);
    }
  }

  bool Insert(uint64_t id, EntryWeight weight, std::vector<uint64_t>* evicted) {
    Entry entry{.id = id};
    for (const Entry& old : entries_) {
      if (old.id == id) entry.uses = old.uses;
    }
    Remove(id);
    entry.weight = weight;
    while (!entries_.empty() && size() + weight.size > size_max_) {
      const auto least =
          std::min_element(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
            return std::pair(a.priority, a.last_use) < std::pair(b.priority, b.last_use);
          });
      inflation_ = least->priority;
      evicted->push_back(least->id);
      entries_.erase(least);
    }
    Use(&entry);
    entries_.push_back(entry);
    return true;
  }

  void Remove(uint64_t id) {
    std::erase_if(entries_, [id](const Entry& entry) { return entry.id == id; });
  }

  uint64_t size() const {
    uint64_t size = 0;
    for (const Entry& entry : entries_) size += entry.weight.size;
    return size;
  }
  uint64_t entry_count() const { return entries_.size(); }

 private:
  struct Entry {
    uint64_t id = 0;
    EntryWeight weight{};
    uint64_t uses = 0;
    double priority = 0;
    int last_use = 0;
  };

  void Use(Entry* entry) {
    ++entry->uses;
    entry->priority = inflation_ + static_cast<double>(entry->uses) * value_(entry->weight);
    entry->last_use = ++time_;
  }

  const uint64_t size_max_;
  const GreedyDual::ValueOfUse value_;
  std::vector<Entry> entries_;
  double inflation_ = 0;
  int time_ = 0;
};

double One(EntryWeight) { return 1; }
double CostPerByte(EntryWeight weight) {
  return static_cast<double>(std::max<uint64_t>(1, weight.cost_us)) /
         static_cast<double>(weight.size);
}

TEST(LfuTest, AgreesWithTheReferenceImplementation) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const uint64_t size_max = 50 + seed * 25;
    const auto policy = MakeLfu(size_max);
    ObviousGreedyDual obvious(size_max, &One);
    ExpectSameDecisions({.size_max = size_max, .seed = seed}, *policy, obvious);
  }
}

TEST(LfuTest, ForgetsWhatWasPopularLongAgo) {
  const auto policy = MakeLfu(10);
  std::vector<uint64_t> evicted;
  policy->Insert(0, {.size = 1}, &evicted);
  for (int use = 0; use < 20; ++use) policy->Touch(0);
  uint64_t next = 1;
  while (policy->Contains(0) && next < 1000) policy->Insert(next++, {.size = 1}, &evicted);
  // Each generation of nine others raises the inflation by one.
  EXPECT_GT(next, 9u * 15);
  EXPECT_LT(next, 9u * 25);
}

TEST(GdsfTest, AgreesWithTheReferenceImplementation) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const uint64_t size_max = 50 + seed * 25;
    const auto policy = MakeGdsf(size_max);
    ObviousGreedyDual obvious(size_max, &CostPerByte);
    ExpectSameDecisions({.size_max = size_max, .seed = seed}, *policy, obvious);
  }
}

TEST(GdsfTest, KeepsWhatSavesMostTimeForEachByte) {
  const auto policy = MakeGdsf(100);
  std::vector<uint64_t> evicted;
  policy->Insert(1, {.size = 50, .cost_us = 100}, &evicted);
  policy->Insert(2, {.size = 50, .cost_us = 5000}, &evicted);
  policy->Insert(3, {.size = 10, .cost_us = 1000}, &evicted);
  policy->Insert(4, {.size = 40, .cost_us = 1000}, &evicted);
  EXPECT_EQ(evicted, std::vector<uint64_t>{1});
}

TEST(GdsfTest, PrefersSmallEntriesIfCostsAreUnknown) {
  const auto policy = MakeGdsf(100);
  std::vector<uint64_t> evicted;
  policy->Insert(1, {.size = 20}, &evicted);
  policy->Insert(2, {.size = 80}, &evicted);
  policy->Insert(3, {.size = 20}, &evicted);
  EXPECT_EQ(evicted, std::vector<uint64_t>{2});
}

}  // namespace
}  // namespace search::cache
