#include "tools/cache_sim/simulation.h"

#include <memory>
#include <vector>

namespace search::tools {
namespace {

double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double CacheOutcome::hit_ratio() const { return Ratio(hit_count, request_count); }
double CacheOutcome::byte_hit_ratio() const { return Ratio(hit_size, size); }
double CacheOutcome::time_saved() const { return Ratio(hit_cost_us, cost_us); }

void CacheOutcome::Count(const cache::EntryWeight& weight, bool is_hit) {
  ++request_count;
  size += weight.size;
  cost_us += weight.cost_us;
  if (!is_hit) return;
  ++hit_count;
  hit_size += weight.size;
  hit_cost_us += weight.cost_us;
}

CacheOutcome Simulate(const CacheTrace& trace, const SimulatedCache& cache,
                      const cache::EvictionPolicyVariant& variant) {
  const auto policy = variant.make(cache.size_max);
  std::vector<uint64_t> insert_times(cache.time_to_live_us > 0 ? trace.key_count() : 0);
  std::vector<uint64_t> evicted;
  CacheOutcome outcome;
  CacheOutcome uncounted;
  for (uint64_t request = 0; request < trace.request_count(); ++request) {
    CacheOutcome& counted = request < cache.warmup_count ? uncounted : outcome;
    const uint32_t key = trace.KeyOf(request);
    const cache::EntryWeight& weight = trace.WeightOf(key);
    const uint64_t now_us = trace.TimeOf(request);
    bool is_hit = policy->Contains(key);
    if (is_hit && cache.time_to_live_us > 0 &&
        now_us >= insert_times[key] + cache.time_to_live_us) {
      policy->Remove(key);
      ++counted.expiration_count;
      is_hit = false;
    }
    counted.Count(weight, is_hit);
    if (is_hit) {
      policy->Touch(key);
      continue;
    }
    const uint64_t entry_size = weight.size + cache.entry_overhead;
    evicted.clear();
    if (entry_size > cache.size_max ||
        !policy->Insert(key, {.size = entry_size, .cost_us = weight.cost_us}, &evicted)) {
      ++counted.refused_count;
    } else if (cache.time_to_live_us > 0) {
      insert_times[key] = now_us;
    }
    counted.eviction_count += evicted.size();
  }
  return outcome;
}

}  // namespace search::tools
