// Estimates a figure from several runs: its middle and the 95 % confidence interval.
//
// Source: Student's t for means; order statistics for medians.
// Threads: pure functions.
// Limits: for one value, and for a median of fewer than six, there is no 95 % interval; [low, high]
//   are then the smallest and the largest value.

#pragma once

#include <string>
#include <vector>

namespace search::lab {

struct Estimate {
  double middle = 0;
  double low = 0;
  double high = 0;
  int count = 0;

  // An exact figure, such as the result of a formula.
  static Estimate Exact(double value) { return {value, value, value, 1}; }
};

Estimate MeanOf(const std::vector<double>& values);
Estimate MedianOf(std::vector<double> values);
// The mean of `after` minus the mean of `before`; their variances may differ (Welch). With fewer
// than two values on one side the interval is unbounded.
Estimate DifferenceOfMeans(const std::vector<double>& before, const std::vector<double>& after);

// "82.1 ± 0.4" with the digits that the interval justifies; an exact value with four significant
// digits.
std::string ToText(const Estimate& estimate);
std::string NumberText(double value);
// The shortest usual form of a number, "0.65", for lines and settings.
std::string ShortText(double value);

}  // namespace search::lab
