#include "tools/cache_sim/optimum.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>
#include <vector>

namespace search::tools {
namespace {

constexpr uint32_t kNever = CacheTrace::kNever;

// The entries of a cache that knows the future.
class ProphetCache {
 public:
  ProphetCache(const CacheTrace& trace, const SimulatedCache& cache)
      : trace_(trace), cache_(cache), next_use_of_(trace.key_count(), kNever) {}

  bool Contains(uint32_t key) const { return next_use_of_[key] != kNever; }

  // Keeps the key until its next use at `next_use`, or evicts it or others that are used later.
  void Keep(uint32_t key, uint32_t next_use) {
    if (Contains(key)) size_ -= SizeOf(key);
    next_use_of_[key] = SizeOf(key) <= cache_.size_max ? next_use : kNever;
    if (!Contains(key)) return;
    size_ += SizeOf(key);
    by_next_use_.push({next_use, key});
    while (size_ > cache_.size_max) EvictLast();
  }

 private:
  uint64_t SizeOf(uint32_t key) const { return trace_.WeightOf(key).size + cache_.entry_overhead; }

  // Places of keys that were used since are stale: their next use is another one.
  void EvictLast() {
    const auto [next_use, key] = by_next_use_.top();
    by_next_use_.pop();
    if (next_use_of_[key] != next_use) return;
    next_use_of_[key] = kNever;
    size_ -= SizeOf(key);
  }

  const CacheTrace& trace_;
  const SimulatedCache& cache_;
  uint64_t size_ = 0;
  std::vector<uint32_t> next_use_of_;  // kNever: not resident
  std::priority_queue<std::pair<uint32_t, uint32_t>> by_next_use_;
};

// The time between two uses of a key, in which the cache may keep it.
struct Interval {
  double price = 0;  // space for each unit of the value
  double space = 0;  // size times number of requests
  uint32_t request = 0;
};

// The largest sum of `value` over intervals that the space has room for; the last one counts whole.
template <typename Value>
uint64_t MostValue(std::vector<Interval>* intervals, double space, const Value& value) {
  for (Interval& interval : *intervals) {
    const auto worth = static_cast<double>(value(interval.request));
    interval.price = worth > 0 ? interval.space / worth : HUGE_VAL;
  }
  std::sort(intervals->begin(), intervals->end(),
            [](const Interval& a, const Interval& b) { return a.price < b.price; });
  uint64_t sum = 0;
  for (const Interval& interval : *intervals) {
    if (space <= 0) break;
    space -= interval.space;
    sum += value(interval.request);
  }
  return sum;
}

CacheOutcome CountAll(const CacheTrace& trace, const SimulatedCache& cache) {
  CacheOutcome outcome;
  for (uint64_t request = cache.warmup_count; request < trace.request_count(); ++request) {
    outcome.Count(trace.WeightOf(trace.KeyOf(request)), false);
  }
  return outcome;
}

}  // namespace

CacheOutcome SimulateBelady(const CacheTrace& trace, const SimulatedCache& cache) {
  const std::vector<uint32_t> next_uses = trace.NextUses();
  ProphetCache prophet(trace, cache);
  CacheOutcome outcome;
  for (uint64_t request = 0; request < trace.request_count(); ++request) {
    const uint32_t key = trace.KeyOf(request);
    if (request >= cache.warmup_count) outcome.Count(trace.WeightOf(key), prophet.Contains(key));
    prophet.Keep(key, next_uses[request]);
  }
  return outcome;
}

CacheOutcome BoundOf(const CacheTrace& trace, const SimulatedCache& cache) {
  const std::vector<uint32_t> next_uses = trace.NextUses();
  std::vector<Interval> intervals;
  for (uint64_t request = 0; request < trace.request_count(); ++request) {
    const uint32_t next = next_uses[request];
    const uint64_t size = trace.WeightOf(trace.KeyOf(request)).size + cache.entry_overhead;
    if (next == kNever || next < cache.warmup_count || size > cache.size_max) continue;
    intervals.push_back({.space = static_cast<double>(size) * static_cast<double>(next - request),
                         .request = static_cast<uint32_t>(request)});
  }
  const double space =
      static_cast<double>(cache.size_max) * static_cast<double>(trace.request_count());
  const auto weight = [&trace](uint32_t request) -> const cache::EntryWeight& {
    return trace.WeightOf(trace.KeyOf(request));
  };
  CacheOutcome outcome = CountAll(trace, cache);
  outcome.hit_count = MostValue(&intervals, space, [](uint32_t) { return uint64_t{1}; });
  outcome.hit_size = MostValue(&intervals, space, [&](uint32_t r) { return weight(r).size; });
  outcome.hit_cost_us = MostValue(&intervals, space, [&](uint32_t r) { return weight(r).cost_us; });
  return outcome;
}

CacheOutcome SimulateUnlimited(const CacheTrace& trace, const SimulatedCache& cache) {
  std::vector<bool> is_known(trace.key_count(), false);
  CacheOutcome outcome;
  for (uint64_t request = 0; request < trace.request_count(); ++request) {
    const uint32_t key = trace.KeyOf(request);
    if (request >= cache.warmup_count) outcome.Count(trace.WeightOf(key), is_known[key]);
    is_known[key] = true;
  }
  return outcome;
}

}  // namespace search::tools
