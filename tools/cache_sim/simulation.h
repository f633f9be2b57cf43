// Replays a trace against an eviction policy, as the query cache does: a miss is followed by an
// insert, an expired entry is a miss and leaves.
//
// Threads: pure function.
// Units: bytes, microseconds.
// Limits: the time of n requests is n times that of the policy's calls; memory that of its entries.

#pragma once

#include <cstdint>

#include "cache/eviction/registry.h"
#include "tools/cache_sim/cache_trace.h"

namespace search::tools {

struct SimulatedCache {
  uint64_t size_max = 0;
  // Added to the size of each entry, as cache/memory does.
  uint64_t entry_overhead = 0;
  // Age at which an entry is no longer found; 0: never.
  uint64_t time_to_live_us = 0;
  // Number of requests at the beginning that are not counted.
  uint64_t warmup_count = 0;
};

// Sums over the requests that were counted.
struct CacheOutcome {
  uint64_t request_count = 0;
  uint64_t hit_count = 0;
  uint64_t size = 0;  // of the values asked for, without overhead
  uint64_t hit_size = 0;
  uint64_t cost_us = 0;  // of the values asked for
  uint64_t hit_cost_us = 0;
  uint64_t eviction_count = 0;
  uint64_t refused_count = 0;
  uint64_t expiration_count = 0;

  double hit_ratio() const;
  double byte_hit_ratio() const;
  // Share of the time that all requests would cost without a cache.
  double time_saved() const;

  void Count(const cache::EntryWeight& weight, bool is_hit);
};

CacheOutcome Simulate(const CacheTrace& trace, const SimulatedCache& cache,
                      const cache::EvictionPolicyVariant& policy);

}  // namespace search::tools
