// What several runs say of one figure: the middle and an interval that holds it in 95 of 100 repetitions.
//
// Source: Student's t for means; order statistics for medians.
// Threads: pure functions.
// Limits: the interval of one value, and that of a median of fewer than six, is as wide as can be said: [low, high]
//   are then the smallest and largest value.

#pragma once

#include <string>
#include <vector>

namespace search::lab {

struct Estimate {
  double middle = 0;
  double low = 0;
  double high = 0;
  int count = 0;

  // A figure known exactly, such as a formula's.
  static Estimate Exact(double value) { return {value, value, value, 1}; }
};

Estimate MeanOf(const std::vector<double>& values);
Estimate MedianOf(std::vector<double> values);
// Of the mean of `after` less that of `before`, whose deviations may differ (Welch). With fewer than two values
// on a side the interval is unbounded.
Estimate DifferenceOfMeans(const std::vector<double>& before, const std::vector<double>& after);

// "82.1 ± 0.4" with as many digits as the interval is worth; an exact value with four significant digits.
std::string ToText(const Estimate& estimate);
std::string NumberText(double value);
// A number as one writes it down, "0.65": for lines and settings.
std::string ShortText(double value);

}  // namespace search::lab
