// The steps of a search, as its trace and the metrics show them.
//
// Threads: on the search's user-level thread.

#pragma once

#include <string_view>

#include "frontend/model/answer.h"
#include "neptune/base/metrics.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {

// Records the time until the end of the scope.
class StepTimer {
 public:
  explicit StepTimer(neptune::HistogramMetric* metric)
      : metric_(metric), begin_(neptune::this_thread::Now()) {}
  ~StepTimer() { metric_->Record(neptune::this_thread::Now() - begin_); }

 private:
  neptune::HistogramMetric* const metric_;
  const neptune::TimePoint begin_;
};

// Appends the scope as a step of the answer.
class Step {
 public:
  Step(std::string_view name, StepKind kind, neptune::TimePoint received, SearchAnswer* answer)
      : name_(name),
        kind_(kind),
        received_(received),
        answer_(answer),
        begin_(neptune::this_thread::Now()) {}
  ~Step() {
    answer_->steps.push_back(
        {name_, kind_, begin_ - received_, neptune::this_thread::Now() - received_});
  }

 private:
  const std::string_view name_;
  const StepKind kind_;
  const neptune::TimePoint received_;
  SearchAnswer* const answer_;
  const neptune::TimePoint begin_;
};

}  // namespace search::frontend
