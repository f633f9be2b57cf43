// Conformance tests of eviction policies, over the registry.

#include "cache/eviction/eviction_policy.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "cache/eviction/registry.h"

namespace search::cache {

void PrintTo(const EvictionPolicyVariant& variant, std::ostream* out) { *out << variant.name; }

namespace {

using Evicted = std::vector<uint64_t>;

class EvictionPolicyConformance : public testing::TestWithParam<EvictionPolicyVariant> {
 protected:
  std::unique_ptr<EvictionPolicy> Make(uint64_t size_max) const {
    return GetParam().make(size_max);
  }
};

std::string PolicyName(const testing::TestParamInfo<EvictionPolicyVariant>& info) {
  return std::string(info.param.name);
}

INSTANTIATE_TEST_SUITE_P(Registered, EvictionPolicyConformance,
                         testing::ValuesIn(RegisteredEvictionPolicies().begin(),
                                           RegisteredEvictionPolicies().end()),
                         PolicyName);

// A map of what must be resident, kept by what the calls report.
class ResidentModel {
 public:
  ResidentModel(EvictionPolicy* policy, uint64_t size_max) : policy_(policy), size_max_(size_max) {}

  void Insert(uint64_t id, EntryWeight weight) {
    Evicted evicted;
    const bool is_admitted = policy_->Insert(id, weight, &evicted);
    sizes_.erase(id);
    for (const uint64_t other : evicted) {
      EXPECT_NE(other, id);
      EXPECT_EQ(sizes_.erase(other), 1u) << other << " was not resident";
    }
    if (is_admitted) sizes_[id] = weight.size;
    EXPECT_EQ(policy_->Contains(id), is_admitted);
  }

  void Remove(uint64_t id) {
    policy_->Remove(id);
    sizes_.erase(id);
  }

  void Clear() {
    policy_->Clear();
    sizes_.clear();
  }

  void Check(uint64_t id_end) const {
    uint64_t size = 0;
    for (const auto& [id, entry_size] : sizes_) size += entry_size;
    ASSERT_EQ(policy_->size(), size);
    ASSERT_EQ(policy_->entry_count(), sizes_.size());
    ASSERT_LE(size, size_max_);
    for (uint64_t id = 0; id < id_end; ++id) {
      ASSERT_EQ(policy_->Contains(id), sizes_.contains(id)) << id;
    }
  }

 private:
  EvictionPolicy* const policy_;
  const uint64_t size_max_;
  std::map<uint64_t, uint64_t> sizes_;
};

TEST_P(EvictionPolicyConformance, HoldsWhatItSaysAndKeepsItsBound) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const uint64_t size_max = 1 + random() % 1000;
    const auto policy = Make(size_max);
    ResidentModel model(policy.get(), size_max);
    for (int step = 0; step < 4000; ++step) {
      const uint64_t id = random() % (1 + random() % 150);
      const uint64_t size = 1 + random() % (random() % 20 == 0 ? size_max : 1 + size_max / 20);
      switch (random() % 6) {
        case 0:
          model.Remove(id);
          break;
        case 1:
        case 2:
          model.Insert(id, {.size = size, .cost_us = random() % 5000});
          break;
        default:
          policy->Touch(id);
      }
      if (step % 1000 == 999) {
        model.Clear();
      }
      model.Check(150);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
}

TEST_P(EvictionPolicyConformance, AdmitsWhatFitsWithoutEvictingAny) {
  const auto policy = Make(100);
  Evicted evicted;
  EXPECT_TRUE(policy->Insert(1, {.size = 60}, &evicted));
  EXPECT_TRUE(policy->Insert(2, {.size = 40}, &evicted));
  EXPECT_TRUE(evicted.empty());
  policy->Remove(1);
  EXPECT_TRUE(policy->Insert(3, {.size = 60}, &evicted));
  EXPECT_TRUE(evicted.empty());
  policy->Clear();
  EXPECT_TRUE(policy->Insert(4, {.size = 100}, &evicted));
}

TEST_P(EvictionPolicyConformance, DecidesTheSameForTheSameCalls) {
  const auto run = [this] {
    const auto policy = Make(500);
    std::mt19937_64 random(3);
    Evicted evicted;
    for (int step = 0; step < 5000; ++step) {
      const uint64_t id = random() % (1 + random() % 300);
      if (policy->Contains(id)) {
        policy->Touch(id);
      } else {
        policy->Insert(id, {.size = 1 + id % 20, .cost_us = id % 7}, &evicted);
      }
    }
    return evicted;
  };
  const Evicted first = run();
  EXPECT_GT(first.size(), 100u);
  EXPECT_EQ(run(), first);
}

TEST_P(EvictionPolicyConformance, WorksAgainAfterItWasCleared) {
  const auto used = Make(100);
  Evicted evicted;
  for (uint64_t id = 0; id < 500; ++id) used->Insert(id % 170, {.size = 1 + id % 30}, &evicted);
  used->Clear();
  const auto fresh = Make(100);
  for (uint64_t id = 0; id < 500; ++id) {
    Evicted of_used;
    Evicted of_fresh;
    const EntryWeight weight{.size = 1 + id % 23, .cost_us = id % 11};
    ASSERT_EQ(used->Insert(id * id % 171, weight, &of_used),
              fresh->Insert(id * id % 171, weight, &of_fresh));
    ASSERT_EQ(of_used, of_fresh) << "something was not forgotten";
  }
}

// Share of the uses of a set of popular entries, half as large as the cache, that are hits while
// four times as many entries are asked for once.
double HitRatioDuringScan(EvictionPolicy& policy, uint64_t size_max, uint64_t entry_size) {
  const uint64_t popular_count = size_max / entry_size / 2;
  Evicted evicted;
  const EntryWeight weight{.size = entry_size, .cost_us = 1000};
  for (uint64_t id = 0; id < popular_count; ++id) policy.Insert(id, weight, &evicted);
  for (int use = 0; use < 10; ++use) {
    for (uint64_t id = 0; id < popular_count; ++id) policy.Touch(id);
  }
  uint64_t scanned = 1u << 20;
  uint64_t hit_count = 0;
  const uint64_t use_count = 20 * popular_count;
  for (uint64_t use = 0; use < use_count; ++use) {
    const uint64_t id = use * 7919 % popular_count;
    if (policy.Contains(id)) {
      ++hit_count;
      policy.Touch(id);
    } else {
      policy.Insert(id, weight, &evicted);
    }
    for (int i = 0; i < 4; ++i) policy.Insert(scanned++, weight, &evicted);
  }
  return static_cast<double>(hit_count) / static_cast<double>(use_count);
}

TEST_P(EvictionPolicyConformance, ResistsScansIfItSaysSo) {
  for (const uint64_t entry_size : {1, 100}) {
    const uint64_t size_max = 1000 * entry_size;
    const double ratio = HitRatioDuringScan(*Make(size_max), size_max, entry_size);
    if (GetParam().resists_scans) {
      EXPECT_GT(ratio, 0.95) << "entries of size " << entry_size;
    } else {
      EXPECT_LT(ratio, 0.5) << "this variant may say that it resists scans";
    }
  }
}

// Share of the uses of costly entries that are hits, while as many cheap ones are as popular.
double HitRatioOfCostly(EvictionPolicy& policy) {
  constexpr uint64_t kEntryCount = 2000;  // the cache has room for 500
  std::mt19937_64 random(9);
  uint64_t hit_count = 0;
  uint64_t use_count = 0;
  Evicted evicted;
  for (int step = 0; step < 60000; ++step) {
    const uint64_t id = random() % kEntryCount;
    const bool is_costly = id % 4 == 0;
    const bool is_hit = policy.Contains(id);
    if (step >= 20000 && is_costly) {
      ++use_count;
      hit_count += is_hit ? 1 : 0;
    }
    if (is_hit) {
      policy.Touch(id);
    } else {
      policy.Insert(id, {.size = 1, .cost_us = is_costly ? 50'000u : 100u}, &evicted);
    }
  }
  return static_cast<double>(hit_count) / static_cast<double>(use_count);
}

TEST_P(EvictionPolicyConformance, KeepsCostlyEntriesIfItSaysSo) {
  const double ratio = HitRatioOfCostly(*Make(500));
  if (GetParam().weighs_cost) {
    EXPECT_GT(ratio, 0.8);
  } else {
    EXPECT_LT(ratio, 0.4);
  }
}

TEST(EvictionPolicyRegistryTest, NamesTheKnownOnesForAnUnknownOne) {
  const auto policy = FindEvictionPolicy("random");
  EXPECT_EQ(policy.status().code(), neptune::StatusCode::kInvalidArgument);
  EXPECT_EQ(neptune::ToStd(policy.status().message()),
            "unknown eviction policy 'random'; known: arc, gdsf, lfu, lru, s3_fifo, w_tiny_lfu, "
            "w_tiny_lfu_adaptive, w_tiny_lfu_cost");
}

TEST(EvictionPolicyRegistryTest, FindsByName) {
  for (const EvictionPolicyVariant& variant : RegisteredEvictionPolicies()) {
    const auto found = FindEvictionPolicy(variant.name);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->name, variant.name);
    EXPECT_NE(found->make(1000), nullptr);
  }
}

}  // namespace
}  // namespace search::cache
