// Compares a policy with a reference implementation over random calls, call by call.
//
// Test only.

#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "cache/eviction/eviction_policy.h"

namespace search::cache {

struct RandomCalls {
  uint64_t size_max = 0;
  uint64_t seed = 0;
  int count = 3000;
  // Sizes of entries are 1 if false.
  bool has_sizes = true;
};

// `Reference` has the methods Touch, Insert, Remove, size and entry_count of an EvictionPolicy.
template <typename Reference>
void ExpectSameDecisions(const RandomCalls& calls, EvictionPolicy& policy, Reference& reference) {
  std::mt19937_64 random(calls.seed);
  for (int step = 0; step < calls.count; ++step) {
    // Small ids are common, so that entries are used, return and are replaced.
    const uint64_t id = random() % (1 + random() % 200);
    std::vector<uint64_t> evicted;
    std::vector<uint64_t> expected;
    switch (random() % 8) {
      case 0:
        policy.Remove(id);
        reference.Remove(id);
        break;
      case 1:
      case 2:
      case 3: {
        EntryWeight weight{.size = 1, .cost_us = random() % 1000};
        if (calls.has_sizes) {
          weight.size = 1 + random() % (random() % 50 == 0 ? calls.size_max : 20);
        }
        const bool is_admitted = policy.Insert(id, weight, &evicted);
        ASSERT_EQ(is_admitted, reference.Insert(id, weight, &expected))
            << "seed " << calls.seed << " step " << step;
        break;
      }
      default:
        policy.Touch(id);
        reference.Touch(id);
    }
    ASSERT_EQ(evicted, expected) << "seed " << calls.seed << " step " << step;
    ASSERT_EQ(policy.size(), reference.size()) << "seed " << calls.seed << " step " << step;
    ASSERT_EQ(policy.entry_count(), reference.entry_count());
    ASSERT_LE(policy.size(), calls.size_max);
  }
}

}  // namespace search::cache
