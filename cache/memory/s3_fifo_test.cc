#include "cache/memory/s3_fifo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <random>
#include <unordered_map>
#include <vector>

namespace search::cache {
namespace {

// Reference implementation of the policy, as simple as possible: vectors, newest first, linear
// search.
class ObviousS3Fifo {
 public:
  explicit ObviousS3Fifo(uint64_t size_max)
      : size_max_(size_max), small_max_(size_max / 10), ghost_max_(size_max - size_max / 10) {}

  void Touch(uint64_t id) {
    for (auto* queue : {&small_, &main_}) {
      for (Entry& entry : *queue) {
        if (entry.id == id) entry.uses = std::min(entry.uses + 1, 3);
      }
    }
  }

  void Insert(uint64_t id, uint64_t size, std::vector<uint64_t>* evicted) {
    Entry entry{id, size, 0};
    Queue* queue = Take(&ghost_, id, &entry) || Take(&main_, id, &entry) ? &main_ : &small_;
    Take(&small_, id, &entry);
    entry.size = size;
    while (Size(small_) + Size(main_) + size > size_max_ && !(small_.empty() && main_.empty())) {
      if (main_.empty() || (!small_.empty() && Size(small_) >= small_max_)) {
        EvictSmall(evicted);
      } else {
        EvictMain(evicted);
      }
    }
    queue->insert(queue->begin(), entry);
  }

  void Remove(uint64_t id) {
    Entry ignored;
    Take(&small_, id, &ignored);
    Take(&main_, id, &ignored);
  }

  uint64_t size() const { return Size(small_) + Size(main_); }
  uint64_t entry_count() const { return small_.size() + main_.size(); }
  uint64_t ghost_count() const { return ghost_.size(); }

 private:
  struct Entry {
    uint64_t id = 0;
    uint64_t size = 0;
    int uses = 0;
  };
  using Queue = std::vector<Entry>;

  static uint64_t Size(const Queue& queue) {
    uint64_t size = 0;
    for (const Entry& entry : queue) size += entry.size;
    return size;
  }

  static bool Take(Queue* queue, uint64_t id, Entry* taken) {
    for (auto entry = queue->begin(); entry != queue->end(); ++entry) {
      if (entry->id != id) continue;
      *taken = *entry;
      queue->erase(entry);
      return true;
    }
    return false;
  }

  static Entry PopOldest(Queue* queue) {
    const Entry oldest = queue->back();
    queue->pop_back();
    return oldest;
  }

  void EvictSmall(std::vector<uint64_t>* evicted) {
    while (!small_.empty()) {
      Entry oldest = PopOldest(&small_);
      const bool is_promoted = oldest.uses > 1;
      oldest.uses = 0;
      if (is_promoted) {
        main_.insert(main_.begin(), oldest);
        continue;
      }
      evicted->push_back(oldest.id);
      ghost_.insert(ghost_.begin(), oldest);
      while (Size(ghost_) > ghost_max_) ghost_.pop_back();
      return;
    }
  }

  void EvictMain(std::vector<uint64_t>* evicted) {
    while (!main_.empty()) {
      Entry oldest = PopOldest(&main_);
      if (oldest.uses == 0) {
        evicted->push_back(oldest.id);
        return;
      }
      --oldest.uses;
      main_.insert(main_.begin(), oldest);
    }
  }

  const uint64_t size_max_;
  const uint64_t small_max_;
  const uint64_t ghost_max_;
  Queue small_;
  Queue main_;
  Queue ghost_;
};

TEST(S3FifoTest, AgreesWithTheReferenceImplementation) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    const uint64_t size_max = 50 + random() % 500;
    S3Fifo policy(size_max);
    ObviousS3Fifo obvious(size_max);
    for (int step = 0; step < 3000; ++step) {
      // Small ids are common, so that entries are used, return and are replaced.
      const uint64_t id = random() % (1 + random() % 200);
      std::vector<uint64_t> evicted;
      std::vector<uint64_t> expected;
      switch (random() % 8) {
        case 0:
          policy.Remove(id);
          obvious.Remove(id);
          break;
        case 1:
        case 2:
        case 3: {
          const uint64_t size = 1 + random() % (random() % 50 == 0 ? size_max : 20);
          policy.Insert(id, size, &evicted);
          obvious.Insert(id, size, &expected);
          break;
        }
        default:
          policy.Touch(id);
          obvious.Touch(id);
      }
      ASSERT_EQ(evicted, expected) << "seed " << seed << " step " << step;
      ASSERT_EQ(policy.size(), obvious.size());
      ASSERT_EQ(policy.entry_count(), obvious.entry_count());
      ASSERT_EQ(policy.ghost_count(), obvious.ghost_count());
      ASSERT_LE(policy.size(), size_max);
    }
  }
}

TEST(S3FifoTest, EvictsNewEntriesUsedAtMostOnceFirst) {
  S3Fifo policy(10);
  std::vector<uint64_t> evicted;
  for (uint64_t id = 0; id < 10; ++id) policy.Insert(id, 1, &evicted);
  EXPECT_TRUE(evicted.empty());
  policy.Touch(0);
  policy.Touch(0);
  policy.Touch(1);
  policy.Insert(10, 1, &evicted);  // 0 is promoted, 1 was used only once
  EXPECT_EQ(evicted, std::vector<uint64_t>{1});
  EXPECT_TRUE(policy.Contains(0));
}

TEST(S3FifoTest, RecognisesAReturningEntryByItsGhost) {
  S3Fifo policy(10);
  std::vector<uint64_t> evicted;
  for (uint64_t id = 0; id < 11; ++id) policy.Insert(id, 1, &evicted);
  ASSERT_EQ(evicted, std::vector<uint64_t>{0});
  EXPECT_EQ(policy.ghost_count(), 1u);
  policy.Insert(0, 1, &evicted);  // to the main queue, in 1's place
  for (uint64_t id = 100; id < 108; ++id) policy.Insert(id, 1, &evicted);
  EXPECT_TRUE(policy.Contains(0));
  EXPECT_FALSE(policy.Contains(5));
}

TEST(S3FifoTest, ForgetsAllWhenCleared) {
  S3Fifo policy(10);
  std::vector<uint64_t> evicted;
  for (uint64_t id = 0; id < 20; ++id) policy.Insert(id, 1, &evicted);
  policy.Clear();
  EXPECT_EQ(policy.size(), 0u);
  EXPECT_EQ(policy.ghost_count(), 0u);
  policy.Insert(1, 10, &evicted);
  EXPECT_TRUE(policy.Contains(1));
}

// LRU with entries of size 1, the baseline that S3-FIFO has to beat.
class Lru {
 public:
  explicit Lru(size_t count_max) : count_max_(count_max) {}

  // Inserts the id or moves it to the front; returns whether it was present.
  bool Use(uint64_t id) {
    const auto found = places_.find(id);
    const bool is_hit = found != places_.end();
    if (is_hit) order_.erase(found->second);
    order_.push_front(id);
    places_[id] = order_.begin();
    if (order_.size() > count_max_) {
      places_.erase(order_.back());
      order_.pop_back();
    }
    return is_hit;
  }

 private:
  const size_t count_max_;
  std::list<uint64_t> order_;
  std::unordered_map<uint64_t, std::list<uint64_t>::iterator> places_;
};

bool Use(S3Fifo* policy, uint64_t id) {
  if (policy->Contains(id)) {
    policy->Touch(id);
    return true;
  }
  std::vector<uint64_t> evicted;
  policy->Insert(id, 1, &evicted);
  return false;
}

TEST(S3FifoTest, ResistsAScanBetterThanLru) {
  constexpr size_t kCapacity = 500;
  constexpr uint64_t kPopularCount = 5000;
  std::vector<double> weights;
  for (uint64_t rank = 1; rank <= kPopularCount; ++rank) weights.push_back(1 / std::pow(rank, 0.9));
  std::discrete_distribution<uint64_t> popular(weights.begin(), weights.end());
  std::mt19937_64 random(20260101);

  S3Fifo policy(kCapacity);
  Lru lru(kCapacity);
  uint64_t next_scanned = 1u << 20;  // each asked for once
  int policy_hit_count = 0;
  int lru_hit_count = 0;
  constexpr int kUseCount = 100000;
  for (int i = 0; i < kUseCount; ++i) {
    const uint64_t id = popular(random);
    policy_hit_count += Use(&policy, id);
    lru_hit_count += lru.Use(id);
    Use(&policy, next_scanned);
    lru.Use(next_scanned++);
  }
  EXPECT_GT(policy_hit_count, lru_hit_count + kUseCount / 10)
      << "of " << kUseCount << ": " << policy_hit_count << " hits, LRU " << lru_hit_count;
}

}  // namespace
}  // namespace search::cache
