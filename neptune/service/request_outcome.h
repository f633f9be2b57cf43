// Outcome of a request, as the counters distinguish it.
//
// Threads: pure functions.

#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "neptune/base/status.h"

namespace neptune {

enum class RequestOutcome { kOk, kRefused, kExpired, kCancelled, kFailed };

inline constexpr std::array<std::string_view, 5> kOutcomeNames = {"ok", "refused", "expired",
                                                                  "cancelled", "failed"};

inline RequestOutcome RequestOutcomeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return RequestOutcome::kOk;
    case StatusCode::kResourceExhausted:
      return RequestOutcome::kRefused;
    case StatusCode::kDeadlineExceeded:
      return RequestOutcome::kExpired;
    case StatusCode::kCancelled:
      return RequestOutcome::kCancelled;
    default:
      return RequestOutcome::kFailed;
  }
}

// An array indexed by outcome.
template <typename Thing>
class PerOutcome {
 public:
  Thing& operator[](RequestOutcome outcome) { return things_[static_cast<size_t>(outcome)]; }
  const Thing& operator[](RequestOutcome outcome) const {
    return things_[static_cast<size_t>(outcome)];
  }
  // Runs make(outcome, name) for each.
  template <typename Function>
  static void ForEach(Function function) {
    for (size_t i = 0; i < kOutcomeNames.size(); ++i) {
      function(static_cast<RequestOutcome>(i), kOutcomeNames[i]);
    }
  }

 private:
  std::array<Thing, kOutcomeNames.size()> things_{};
};

}  // namespace neptune
