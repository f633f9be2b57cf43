// LFU eviction policy with ageing (LFU-DA): the least frequently used entry goes first, where uses
// count from the number that the last evicted entry had.
//
// Source: [Arlitt00] (LFU with dynamic ageing).
// Threads: thread-compatible.
// Limits: those of greedy_dual.h. Counts of uses are forgotten when an entry is evicted.

#pragma once

#include <cstdint>
#include <memory>

#include "cache/eviction/eviction_policy.h"

namespace search::cache {

std::unique_ptr<EvictionPolicy> MakeLfu(uint64_t size_max);

}  // namespace search::cache
