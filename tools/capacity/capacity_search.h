// Finds the highest rate that meets a goal by requesting trials: doubling, then halving the gap,
// then confirming.
//
//   double from the start (or halve, if the start fails) until one rate is met and one is not
//   try the geometric middle until the two are within `precision`
//   confirm: `confirmations` trials at the met rate, the one that found it counted; if one fails,
//   the next candidate is lower by `precision`
//
// No I/O, no clock.
// Threads: thread-compatible.
// Units: requests a second.
// Limits: rate_min, rate_max; at most kTrialCountMax trials.

#pragma once

#include <optional>

namespace search::tools {

struct CapacityOptions {
  double rate_start = 10;
  double rate_min = 0.1;
  double rate_max = 100'000;
  // Larger: fewer trials, a coarser answer. Default: 5 %.
  double precision = 0.05;
  int confirmations = 3;
};

class CapacitySearch {
 public:
  static constexpr int kTrialCountMax = 60;

  // REQUIRES: 0 < rate_min <= rate_start <= rate_max, precision > 0, confirmations > 0.
  explicit CapacitySearch(const CapacityOptions& options);

  // The rate to try next; nothing once the search is over.
  std::optional<double> Next() const { return next_; }
  // Records the outcome of the trial at Next(). REQUIRES: there was one.
  void Record(bool met);

  // The confirmed rate; nothing if not even rate_min met the goal, or trials ran out.
  std::optional<double> capacity() const { return capacity_; }
  // The highest allowed rate met the goal: the capacity is at least that.
  bool at_rate_max() const { return at_rate_max_; }
  // The next trial repeats a rate that was met before.
  bool confirming() const { return met_in_a_row_ > 0; }
  int trial_count() const { return trial_count_; }

 private:
  void RecordWhileConfirming(bool met);
  void Choose();
  void BeginConfirming();

  const CapacityOptions options_;
  std::optional<double> met_;     // highest rate that met the goal
  std::optional<double> failed_;  // lowest rate that did not
  std::optional<double> next_;
  std::optional<double> capacity_;
  int met_in_a_row_ = 0;
  int trial_count_ = 0;
  bool at_rate_max_ = false;
  bool candidate_untried_ = false;
};

}  // namespace search::tools
