// Estimates a figure from several runs: its middle and a confidence interval, of 95 % unless
// another is asked for.
//
// Source: Student's t for means; order statistics for medians.
// Threads: pure functions.
// Limits: one value has no interval, nor has a median of fewer values than the confidence needs
//   (six for 95 %); `too_few` is then set, and [low, high] are the smallest and the largest value.

#pragma once

#include <functional>
#include <string>
#include <vector>

namespace search::lab {

// The share of intervals that miss the true figure, both sides together.
inline constexpr double kMiss = 0.05;

struct Estimate {
  double middle = 0;
  double low = 0;
  double high = 0;
  // Runs; 0 for the result of a formula.
  int count = 0;
  // There is no chance in the figure: a formula, or a statement about just these runs.
  bool exact = false;
  bool too_few = false;

  // A figure that no run could change, such as the result of a formula.
  static Estimate Exact(double value) { return {value, value, value, 0, true}; }
  // A statement about `count` runs and no others, such as the largest of them.
  static Estimate OfAll(double value, int count) { return {value, value, value, count, true}; }

  // Whether [low, high] is an interval of the confidence that was asked for.
  bool has_interval() const { return exact || (count >= 2 && !too_few); }
};

Estimate MeanOf(const std::vector<double>& values, double miss = kMiss);
Estimate MedianOf(std::vector<double> values, double miss = kMiss);
// The largest value, as a statement about these runs. REQUIRES: there is a value.
Estimate LargestOf(const std::vector<double>& values);
// The mean of `after` minus the mean of `before`; their variances may differ (Welch). With fewer
// than two values on one side the interval is unbounded.
Estimate DifferenceOfMeans(const std::vector<double>& before, const std::vector<double>& after);

// factor * estimate + offset; a negative factor exchanges the ends.
Estimate Scaled(const Estimate& estimate, double factor, double offset = 0);
// "1.25" as "25 %": by how much a ratio exceeds 1.
inline Estimate ExcessPercent(const Estimate& ratio) { return Scaled(ratio, 100, -100); }
// The ratio of two figures from runs that are not paired: its ends are the ratios of opposite ends,
// which is wider than needed. Has no more runs than the side with fewer. The upper end is unbounded
// if the divisor may be 0 or less. REQUIRES: above.low >= 0.
Estimate RatioOf(const Estimate& above, const Estimate& below);
// A figure that is computed from all `count` runs together, such as the slope of a fit:
// `figure(left_out)` computes it without the run of that index, and with all runs for -1. The
// interval is the jackknife's.
//
// Source: [Tukey58] for the pseudo-values, of which the mean and its interval are taken.
Estimate JackknifeOf(int count, const std::function<double(int left_out)>& figure,
                     double miss = kMiss);

// "82.1 ± 0.4" with the digits that the interval justifies; an exact value with four significant
// digits.
std::string ToText(const Estimate& estimate);
std::string NumberText(double value);
// The shortest usual form of a number, "0.65", for lines and settings.
std::string ShortText(double value);

}  // namespace search::lab
