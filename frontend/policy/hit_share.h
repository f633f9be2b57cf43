// The share of the best hits that each partition of a tier is asked for.
//
// The n best of a collection are spread over its p partitions by chance, so a partition has about
// n/p of them, and hardly ever many more. Asking each for a little more than that saves ranking,
// rating and sending the rest, which a merge would drop. An answer says if it needs more
// (index::LacksHits); the tier is then asked again without shares.
//
// No I/O, no clock.
// Threads: a pure function.

#pragma once

#include <cstdint>

namespace search::frontend {

// Number of hits that a partition returns if the best `hit_count` of all are wanted; 0: all, since
// a share would be no less. A partition has as many of the best as its share in at most three
// searches of a thousand, if documents are spread over partitions independently.
// REQUIRES: partition_count > 0; hit_count <= 1000.
uint32_t HitShare(uint32_t hit_count, uint32_t partition_count);

}  // namespace search::frontend
