#include "cache/eviction/arc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "cache/eviction/obvious_entries.h"
#include "cache/eviction/policy_comparison.h"

namespace search::cache {
namespace {

// The cases of the source's figure, for entries of size 1: T1, T2 and their ghosts B1, B2.
class ObviousArc {
 public:
  explicit ObviousArc(uint64_t size_max) : c_(size_max) {}

  void Touch(uint64_t id) {
    ObviousEntry entry;
    if (TakeEntry(&t1_, id, &entry) || TakeEntry(&t2_, id, &entry)) PutNewest(&t2_, entry);
  }

  bool Insert(uint64_t id, EntryWeight weight, std::vector<uint64_t>* evicted) {
    ObviousEntry entry{.id = id, .weight = weight};
    if (TakeEntry(&t1_, id, &entry) || TakeEntry(&t2_, id, &entry)) {  // case I
      PutNewest(&t2_, entry);
    } else if (Has(b1_, id)) {  // case II
      p_ = std::min(c_, p_ + std::max<uint64_t>(1, b2_.size() / b1_.size()));
      ReplaceIfFull(false, evicted);
      TakeEntry(&b1_, id, &entry);
      PutNewest(&t2_, entry);
    } else if (Has(b2_, id)) {  // case III
      p_ -= std::min(p_, std::max<uint64_t>(1, b1_.size() / b2_.size()));
      ReplaceIfFull(true, evicted);
      TakeEntry(&b2_, id, &entry);
      PutNewest(&t2_, entry);
    } else {
      CaseFour(evicted);
      PutNewest(&t1_, entry);
    }
    return true;
  }

  void Remove(uint64_t id) {
    ObviousEntry ignored;
    TakeEntry(&t1_, id, &ignored);
    TakeEntry(&t2_, id, &ignored);
  }

  uint64_t size() const { return entry_count(); }
  uint64_t entry_count() const { return t1_.size() + t2_.size(); }
  uint64_t ghost_count() const { return b1_.size() + b2_.size(); }
  uint64_t target() const { return p_; }

 private:
  static bool Has(const ObviousEntries& entries, uint64_t id) {
    return std::any_of(entries.begin(), entries.end(),
                       [id](const ObviousEntry& entry) { return entry.id == id; });
  }

  void CaseFour(std::vector<uint64_t>* evicted) {
    if (t1_.size() + b1_.size() == c_) {
      if (t1_.size() < c_) {
        b1_.pop_back();
        ReplaceIfFull(false, evicted);
      } else {
        evicted->push_back(TakeOldest(&t1_).id);
      }
    } else if (t1_.size() + t2_.size() + b1_.size() + b2_.size() >= c_) {
      if (t1_.size() + t2_.size() + b1_.size() + b2_.size() == 2 * c_) b2_.pop_back();
      ReplaceIfFull(false, evicted);
    }
  }

  // The source always replaces, because its cache is full whenever it has ghosts; removed entries
  // make room here.
  void ReplaceIfFull(bool is_in_b2, std::vector<uint64_t>* evicted) {
    if (entry_count() < c_) return;
    const bool from_t1 =
        t2_.empty() || (!t1_.empty() && (t1_.size() > p_ || (is_in_b2 && t1_.size() == p_)));
    const ObviousEntry oldest = TakeOldest(from_t1 ? &t1_ : &t2_);
    evicted->push_back(oldest.id);
    PutNewest(from_t1 ? &b1_ : &b2_, oldest);
  }

  const uint64_t c_;
  uint64_t p_ = 0;
  ObviousEntries t1_;
  ObviousEntries t2_;
  ObviousEntries b1_;
  ObviousEntries b2_;
};

TEST(ArcTest, AgreesWithTheSourceForEntriesOfSizeOne) {
  uint64_t target_max = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const uint64_t size_max = 2 + seed * 3;
    Arc policy(size_max);
    ObviousArc obvious(size_max);
    ExpectSameDecisions({.size_max = size_max, .seed = seed, .has_sizes = false}, policy, obvious);
    EXPECT_EQ(policy.ghost_count(), obvious.ghost_count()) << "seed " << seed;
    EXPECT_EQ(policy.target(), obvious.target()) << "seed " << seed;
    target_max = std::max(target_max, policy.target());
  }
  EXPECT_GT(target_max, 0u) << "the target was never learnt";
}

// A multiple of the sizes and of the cache changes nothing.
TEST(ArcTest, DecidesByShareNotByUnit) {
  Arc ones(20);
  Arc tens(200);
  std::mt19937_64 random(7);
  for (int step = 0; step < 5000; ++step) {
    const uint64_t id = random() % 60;
    std::vector<uint64_t> evicted;
    std::vector<uint64_t> expected;
    if (ones.Contains(id)) {
      ones.Touch(id);
      tens.Touch(id);
    } else {
      ones.Insert(id, {.size = 1}, &expected);
      tens.Insert(id, {.size = 10}, &evicted);
    }
    ASSERT_EQ(evicted, expected) << "step " << step;
  }
}

TEST(ArcTest, KeepsItsListsAndGhostsWithinTwiceTheSize) {
  constexpr uint64_t kSizeMax = 1000;
  Arc policy(kSizeMax);
  std::mt19937_64 random(8);
  uint64_t ghost_max = 0;
  for (int step = 0; step < 20000; ++step) {
    const uint64_t id = random() % (1 + random() % 500);
    std::vector<uint64_t> evicted;
    if (policy.Contains(id)) {
      policy.Touch(id);
    } else {
      policy.Insert(id, {.size = 10 + random() % 90}, &evicted);
    }
    ASSERT_LE(policy.size(), kSizeMax);
    ghost_max = std::max(ghost_max, policy.ghost_count());
  }
  EXPECT_GT(ghost_max, 10u);
  EXPECT_LE(ghost_max, 2 * kSizeMax / 10);
}

}  // namespace
}  // namespace search::cache
