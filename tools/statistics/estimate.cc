#include "tools/statistics/estimate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace search::lab {
namespace {

// 97.5 % quantiles of Student's t for 1, 2, ... degrees of freedom.
constexpr double kStudent[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                               2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                               2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                               2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
constexpr double kNormal = 1.960;

double StudentQuantile(size_t freedom) {
  return freedom <= std::size(kStudent) ? kStudent[freedom - 1] : kNormal;
}

std::string Format(double value, int decimals) {
  char text[64];
  snprintf(text, sizeof(text), "%.*f", std::clamp(decimals, 0, 12), value);
  return text;
}

}  // namespace

Estimate MeanOf(const std::vector<double>& values) {
  if (values.empty()) return {};
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  if (values.size() == 1) return Estimate::Exact(mean);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double freedom = static_cast<double>(values.size() - 1);
  const double half = StudentQuantile(values.size() - 1) *
                      std::sqrt(squares / freedom / static_cast<double>(values.size()));
  return {mean, mean - half, mean + half, static_cast<int>(values.size())};
}

Estimate DifferenceOfMeans(const std::vector<double>& before, const std::vector<double>& after) {
  const double difference = MeanOf(after).middle - MeanOf(before).middle;
  const int count = static_cast<int>(std::min(before.size(), after.size()));
  if (count < 2) {
    const double unbounded = std::numeric_limits<double>::infinity();
    return {difference, -unbounded, unbounded, count};
  }
  double variance = 0;
  double variance_squares = 0;  // each over its degrees of freedom
  for (const std::vector<double>* values : {&before, &after}) {
    const double n = static_cast<double>(values->size());
    const double mean = MeanOf(*values).middle;
    double squares = 0;
    for (const double value : *values) squares += (value - mean) * (value - mean);
    const double of_mean = squares / (n - 1) / n;
    variance += of_mean;
    variance_squares += of_mean * of_mean / (n - 1);
  }
  if (variance == 0) return {difference, difference, difference, count};
  const double freedom = std::max(1.0, variance * variance / variance_squares);
  const double half = StudentQuantile(static_cast<size_t>(freedom)) * std::sqrt(variance);
  return {difference, difference - half, difference + half, count};
}

Estimate MedianOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  const double middle = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  // The r-th smallest and largest values hold the median unless fewer than r lie on one side: the
  // largest r with 2 P(Binomial(n, 1/2) < r) <= 5 %.
  size_t rank = 0;
  double probability = std::pow(0.5, static_cast<double>(n));
  for (double tail = probability; 2 * tail <= 0.05 && rank < n / 2;) {
    ++rank;
    probability *= static_cast<double>(n - rank + 1) / static_cast<double>(rank);
    tail += probability;
  }
  const size_t from = rank == 0 ? 0 : rank - 1;
  return {middle, values[from], values[n - 1 - from], static_cast<int>(n)};
}

std::string NumberText(double value) {
  if (!std::isfinite(value))
    return value != value ? "none" : value > 0 ? "unbounded" : "-unbounded";
  if (value == 0) return "0";
  const int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  if (magnitude < -4) {
    char text[64];
    snprintf(text, sizeof(text), "%.2e", value);
    return text;
  }
  return Format(value, 3 - magnitude);
}

std::string ShortText(double value) {
  char text[64];
  snprintf(text, sizeof(text), "%.10g", value);
  return text;
}

std::string ToText(const Estimate& estimate) {
  const double half = (estimate.high - estimate.low) / 2;
  if (estimate.count < 2 || half <= 0 || !std::isfinite(half)) return NumberText(estimate.middle);
  // Two digits of half the width of the interval.
  const int decimals = std::max(0, 1 - static_cast<int>(std::floor(std::log10(half))));
  return Format(estimate.middle, decimals) + " ± " + Format(half, decimals);
}

}  // namespace search::lab
