// The order in which requests over the threshold are ended.
//
//   kAge      all at once
//   kRelief   one after the other, starting with the one whose end helps queued requests most: the
//             one that has held a place in the pool the longest. A request that waits for another
//             node, outside of the pool, continues.
//
// Source: after Atropos [Hu25]: cancel the request whose release frees most of the scarce resource.
// Departs from source: one resource, the pool's places and their processors; no estimate of
//   progress: past use predicts future use.
// No I/O, no clock.
// Threads: pure functions.

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune {

enum class EndingOrder { kAge, kRelief };

// Parses "age" or "relief". Errors: kInvalidArgument any other name.
StatusOr<EndingOrder> ParseEndingOrder(std::string_view name);

struct RunningRequest {
  Duration age{0};
  Duration in_pool{0};  // total time in the pool
  bool is_in_pool = true;
};

// Returns the request in the pool with age >= `age_min` that has been in the pool the longest; ties
// go to the older, then to the first. nullopt: there is none.
std::optional<size_t> MostRelieving(std::span<const RunningRequest> running, Duration age_min);

}  // namespace neptune
