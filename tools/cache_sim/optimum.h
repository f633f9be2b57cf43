// What a cache could do that knows the future, to compare policies with.
//
// Three figures for caches without expiry:
//  - Belady's MIN: evicts what is asked for again last, and does not keep what is never asked for
//    again. The most hits possible if all entries have one size. With different sizes it is what
//    one cache that knows the future reaches, not the most.
//  - The bound: hits, bytes and time saved each at most, from a relaxed problem in which the cache
//    may be too full at times, if it is not too full in the mean. No policy is above it, and the
//    three maxima need not be possible together.
//  - An unlimited cache: everything but the first request of each key.
//
// Source: [Belady66] (MIN), [Berger18] (the bound is its PFOO-L: each interval between two
//   uses of a key takes size times length of the space, and the cheapest are kept).
// Threads: pure functions.
// Limits: memory of 24 bytes a request; time O(n log n).

#pragma once

#include <cstdint>

#include "tools/cache_sim/cache_trace.h"
#include "tools/cache_sim/simulation.h"

namespace search::tools {

// Ignores time_to_live_us.
CacheOutcome SimulateBelady(const CacheTrace& trace, const SimulatedCache& cache);

// The fields hit_count, hit_size and hit_cost_us are the bounds. Ignores time_to_live_us.
CacheOutcome BoundOf(const CacheTrace& trace, const SimulatedCache& cache);

// Ignores size_max and time_to_live_us.
CacheOutcome SimulateUnlimited(const CacheTrace& trace, const SimulatedCache& cache);

}  // namespace search::tools
