// GDSF eviction policy (greedy-dual-size-frequency): an entry is worth the time that it saves for
// each byte that it takes, times its uses.
//
// Entries of unknown cost count one microsecond, so that a cache without costs prefers small
// entries, which gives the most hits.
//
// Source: [Cherkasova98].
// Threads: thread-compatible.
// Limits: those of greedy_dual.h. Counts of uses are forgotten when an entry is evicted.

#pragma once

#include <cstdint>
#include <memory>

#include "cache/eviction/eviction_policy.h"

namespace search::cache {

std::unique_ptr<EvictionPolicy> MakeGdsf(uint64_t size_max);

}  // namespace search::cache
