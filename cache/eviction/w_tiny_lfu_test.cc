#include "cache/eviction/w_tiny_lfu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cache/eviction/obvious_entries.h"
#include "cache/eviction/policy_comparison.h"

namespace search::cache {
namespace {

// The lists and contests with vectors; only the sketch is the policy's own kind.
class ObviousWTinyLfu {
 public:
  ObviousWTinyLfu(uint64_t size_max, bool weighs_cost)
      : size_max_(size_max),
        window_max_(size_max / 100),
        protected_max_((size_max - window_max_) * 4 / 5),
        weighs_cost_(weighs_cost) {}

  void Touch(uint64_t id) {
    ObviousEntry entry;
    if (TakeEntry(&window_, id, &entry)) {
      sketch_.Add(id);
      PutNewest(&window_, entry);
    } else if (TakeEntry(&probation_, id, &entry) || TakeEntry(&protected_, id, &entry)) {
      sketch_.Add(id);
      Protect(entry);
    }
  }

  bool Insert(uint64_t id, EntryWeight weight, std::vector<uint64_t>* evicted) {
    sketch_.Add(id);
    ObviousEntry entry;
    const bool is_main = TakeEntry(&probation_, id, &entry) || TakeEntry(&protected_, id, &entry);
    TakeEntry(&window_, id, &entry);
    entry = {.id = id, .weight = weight};
    if (is_main) {
      Protect(entry);
    } else {
      PutNewest(&window_, entry);
    }
    sketch_.EnsureCapacity(entry_count());
    while (SizeOf(window_) > window_max_) Contest(evicted);
    while (size() > size_max_) {
      ObviousEntries& list =
          !probation_.empty() ? probation_ : (!protected_.empty() ? protected_ : window_);
      evicted->push_back(TakeOldest(&list).id);
    }
    return std::erase(*evicted, id) == 0;
  }

  void Remove(uint64_t id) {
    ObviousEntry ignored;
    for (ObviousEntries* list : {&window_, &probation_, &protected_}) {
      TakeEntry(list, id, &ignored);
    }
  }

  uint64_t size() const { return SizeOf(window_) + SizeOf(probation_) + SizeOf(protected_); }
  uint64_t entry_count() const { return window_.size() + probation_.size() + protected_.size(); }

 private:
  void Protect(const ObviousEntry& entry) {
    PutNewest(&protected_, entry);
    while (SizeOf(protected_) > protected_max_) PutNewest(&probation_, TakeOldest(&protected_));
  }

  uint64_t Worth(const ObviousEntry& entry) const {
    const uint64_t frequency = std::max<uint64_t>(1, sketch_.Estimate(entry.id));
    return weighs_cost_ ? frequency * std::max<uint64_t>(1, entry.weight.cost_us) : frequency;
  }

  // Compares the candidate with all victims that it needs, without the shortcuts of the policy.
  void Contest(std::vector<uint64_t>* evicted) {
    const ObviousEntry candidate = window_.back();
    const uint64_t needed = size() > size_max_ ? size() - size_max_ : 0;
    window_.pop_back();
    ObviousEntries victims;
    ObviousEntries all = protected_;
    all.insert(all.end(), probation_.begin(), probation_.end());
    uint64_t worth = 0;
    while (SizeOf(victims) < needed && !all.empty()) {
      victims.push_back(TakeOldest(&all));
      worth += Worth(victims.back());
    }
    if (needed > 0 && (SizeOf(victims) < needed || worth >= Worth(candidate))) {
      evicted->push_back(candidate.id);
      return;
    }
    for (const ObviousEntry& victim : victims) {
      Remove(victim.id);
      evicted->push_back(victim.id);
    }
    PutNewest(&probation_, candidate);
  }

  const uint64_t size_max_;
  const uint64_t window_max_;
  const uint64_t protected_max_;
  const bool weighs_cost_;
  ObviousEntries window_;
  ObviousEntries probation_;
  ObviousEntries protected_;
  FrequencySketch sketch_;
};

TEST(WTinyLfuTest, AgreesWithTheReferenceImplementation) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (const bool weighs_cost : {false, true}) {
      const uint64_t size_max = 100 * seed;  // whole shares
      WTinyLfu policy(size_max, {.weighs_cost = weighs_cost});
      ObviousWTinyLfu obvious(size_max, weighs_cost);
      ExpectSameDecisions({.size_max = size_max, .seed = seed}, policy, obvious);
    }
  }
}

// Fills a cache of 100 with entries 0 to 99 of size 1, each asked for three times.
void FillWithPopular(WTinyLfu* policy) {
  std::vector<uint64_t> evicted;
  for (uint64_t id = 0; id < 100; ++id) {
    policy->Insert(id, {.size = 1, .cost_us = 100}, &evicted);
    policy->Touch(id);
    policy->Touch(id);
  }
  ASSERT_TRUE(evicted.empty());
}

TEST(WTinyLfuTest, AdmitsOnlyWhatIsAskedForMoreOften) {
  WTinyLfu policy(100, {});
  FillWithPopular(&policy);
  const auto ask = [&policy](uint64_t id) {
    std::vector<uint64_t> evicted;
    if (policy.Contains(id)) {
      policy.Touch(id);
      return;
    }
    policy.Insert(id, {.size = 1}, &evicted);
  };
  uint64_t scanned = 1000;
  for (int round = 0; round < 3; ++round) {
    ask(500);
    ask(++scanned);  // pushes 500 out of the window
  }
  EXPECT_FALSE(policy.Contains(500)) << "asked for as often as the others";
  for (int round = 0; round < 3; ++round) {
    ask(500);
    ask(++scanned);
  }
  EXPECT_TRUE(policy.Contains(500));
}

TEST(WTinyLfuTest, ComparesALargeEntryWithAllThatMustGoForIt) {
  WTinyLfu policy(100, {});
  FillWithPopular(&policy);
  std::vector<uint64_t> evicted;
  EXPECT_FALSE(policy.Insert(500, {.size = 3}, &evicted));
  EXPECT_EQ(evicted, std::vector<uint64_t>{99}) << "the entry that was in the window";
  evicted.clear();
  for (int ask = 2; ask <= 6; ++ask) {
    EXPECT_FALSE(policy.Insert(500, {.size = 3}, &evicted)) << "2 entries with 3 uses each";
    EXPECT_TRUE(evicted.empty());
  }
  EXPECT_TRUE(policy.Insert(500, {.size = 3}, &evicted));
  EXPECT_EQ(evicted.size(), 2u);
}

TEST(WTinyLfuTest, ComparesTheTimeSavedIfItWeighsCosts) {
  WTinyLfu policy(100, {.weighs_cost = true});
  FillWithPopular(&policy);
  std::vector<uint64_t> evicted;
  // The entry in the window goes first; two others of 3 * 100 each must go besides.
  EXPECT_FALSE(policy.Insert(500, {.size = 3, .cost_us = 500}, &evicted));
  EXPECT_TRUE(policy.Insert(501, {.size = 3, .cost_us = 700}, &evicted));
}

// Entries that return after a few others, and never again: only a window keeps them.
TEST(WTinyLfuTest, WidensItsWindowForUsesThatFollowClosely) {
  WTinyLfu policy(200, {.adapts_window = true});
  std::vector<uint64_t> evicted;
  const auto ask = [&](uint64_t id) {
    if (policy.Contains(id)) {
      policy.Touch(id);
    } else {
      policy.Insert(id, {.size = 1}, &evicted);
    }
  };
  double widest = 0;
  for (uint64_t i = 50; i < 200'000; ++i) {
    ask(i);
    ask(i - 50);
    widest = std::max(widest, policy.window_share());
  }
  EXPECT_GT(widest, 0.25);
}

TEST(WTinyLfuTest, KeepsItsWindowIfItIsNotAdaptive) {
  WTinyLfu policy(1000, {});
  std::vector<uint64_t> evicted;
  for (uint64_t id = 0; id < 50'000; ++id) policy.Insert(id, {.size = 1}, &evicted);
  EXPECT_EQ(policy.window_share(), 0.01);
}

}  // namespace
}  // namespace search::cache
