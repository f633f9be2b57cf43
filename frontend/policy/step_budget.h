// Division of a search's time: each step gets a share of what is left until the deadline of the
// search, at most its own time limit, and none starts afresh.
//
//   received ├ cache ┤ gate ├─ tier 1 ─┤─ tier 2 ─┤ spelling ┤ documents ┤ details ┤ deadline
//
// A share leaves time for the steps that usually follow; time that a step does not use is left to
// them. With the default timeout, the sum of all limits, shares hardly ever matter.
//
// No I/O, no clock.
// Threads: immutable.
// Units: times are TimePoint of the frontend's loop.

#pragma once

#include <algorithm>
#include <cstdint>

#include "neptune/base/time.h"

namespace search::frontend {

enum class BudgetStep : uint8_t {
  kCache,      // both lookups
  kGate,       // the wait for admission
  kTier,       // one tier; the other one may follow
  kSpelling,   // looking for another spelling
  kDocuments,  // all rounds
  kDetails,    // counts by site, explanations
};

class StepBudget {
 public:
  // REQUIRES: timeout > 0.
  StepBudget(neptune::TimePoint received, neptune::Duration timeout)
      : end_(neptune::AddSaturated(received, timeout)),
        deadline_(end_ - std::min(kAnswerTimeMax, timeout / kAnswerShare)) {}

  // When the last step must have ended; the rest of the timeout is for writing the answer.
  neptune::TimePoint deadline() const { return deadline_; }
  // When the client stops waiting.
  neptune::TimePoint end() const { return end_; }
  bool IsSpent(neptune::TimePoint now) const { return now >= deadline_; }

  // When a step that begins at `now` must have ended; `now` if no time is left. `limit`: the step's
  // own time limit.
  neptune::TimePoint EndOf(BudgetStep step, neptune::Duration limit, neptune::TimePoint now) const;

 private:
  static constexpr int kAnswerShare = 20;
  static constexpr neptune::Duration kAnswerTimeMax = std::chrono::milliseconds(10);

  neptune::TimePoint end_;
  neptune::TimePoint deadline_;
};

// The share of what is left that a step may use, in percent.
int PercentOf(BudgetStep step);

}  // namespace search::frontend
