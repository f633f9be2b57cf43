// Which of the requests that may be ended is ended first.
//
//   kAge      all that have taken more than the threshold, at once
//   kRelief   one after the other, first the one whose end relieves those that wait the most: it has a place of the
//             pool, and has had one the longest. A request that waits for another node, out of the pool, goes on.
//
// Source: after Atropos [Hu25]: cancel the request whose release frees most of what is short.
// Departs from source: one resource, the pool's places with the processors behind them, and no estimate of how far a
//   request is: what it has used says what it will use.
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

// "age", "relief". Errors: kInvalidArgument another name.
StatusOr<EndingOrder> ParseEndingOrder(std::string_view name);

struct RunningRequest {
  Duration age{0};
  Duration in_pool{0};  // how long it has had a place, all times together
  bool is_in_pool = true;
};

// Of those as old as `age_min`; of two that are alike the older, then the first. nullopt: nobody's end relieves anybody.
std::optional<size_t> MostRelieving(std::span<const RunningRequest> running, Duration age_min);

}  // namespace neptune
