#include "tools/statistics/estimate.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdio>
#include <limits>

namespace search::lab {
namespace {

// The quantile of Student's t that an interval with this share of misses reaches to both sides.
double StudentQuantile(double freedom, double miss) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(freedom), miss / 2));
}

std::string Format(double value, int decimals) {
  char text[64];
  snprintf(text, sizeof(text), "%.*f", std::clamp(decimals, 0, 12), value);
  return text;
}

}  // namespace

Estimate MeanOf(const std::vector<double>& values, double miss) {
  if (values.empty()) return {.too_few = true};
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  if (values.size() == 1) return {mean, mean, mean, 1, false, true};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double freedom = static_cast<double>(values.size() - 1);
  const double half = StudentQuantile(freedom, miss) *
                      std::sqrt(squares / freedom / static_cast<double>(values.size()));
  return {mean, mean - half, mean + half, static_cast<int>(values.size())};
}

Estimate DifferenceOfMeans(const std::vector<double>& before, const std::vector<double>& after) {
  const double difference = MeanOf(after).middle - MeanOf(before).middle;
  const int count = static_cast<int>(std::min(before.size(), after.size()));
  if (count < 2) {
    const double unbounded = std::numeric_limits<double>::infinity();
    return {difference, -unbounded, unbounded, count, false, true};
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
  const double half = StudentQuantile(freedom, kMiss) * std::sqrt(variance);
  return {difference, difference - half, difference + half, count};
}

Estimate MedianOf(std::vector<double> values, double miss) {
  if (values.empty()) return {.too_few = true};
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  const double middle = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  // The r-th smallest and largest values hold the median unless fewer than r lie on one side: the
  // largest r with 2 P(Binomial(n, 1/2) < r) <= miss.
  size_t rank = 0;
  double probability = std::pow(0.5, static_cast<double>(n));
  for (double tail = probability; 2 * tail <= miss && rank < n / 2;) {
    ++rank;
    probability *= static_cast<double>(n - rank + 1) / static_cast<double>(rank);
    tail += probability;
  }
  const size_t from = rank == 0 ? 0 : rank - 1;
  return {middle, values[from], values[n - 1 - from], static_cast<int>(n), false, rank == 0};
}

Estimate LargestOf(const std::vector<double>& values) {
  return Estimate::OfAll(*std::max_element(values.begin(), values.end()),
                         static_cast<int>(values.size()));
}

Estimate Scaled(const Estimate& estimate, double factor, double offset) {
  Estimate scaled = estimate;
  scaled.middle = factor * estimate.middle + offset;
  scaled.low = factor * (factor < 0 ? estimate.high : estimate.low) + offset;
  scaled.high = factor * (factor < 0 ? estimate.low : estimate.high) + offset;
  return scaled;
}

Estimate RatioOf(const Estimate& above, const Estimate& below) {
  Estimate ratio;
  ratio.middle = above.middle / below.middle;
  ratio.low = above.low / below.high;
  // With few runs the divisor's interval may extend below 0; then there is no upper end.
  ratio.high = below.low > 0 ? above.high / below.low : std::numeric_limits<double>::infinity();
  ratio.exact = above.exact && below.exact;
  const bool above_is_fewer = below.count == 0 || (above.count > 0 && above.count < below.count);
  ratio.count = above_is_fewer ? above.count : below.count;
  ratio.too_few = !above.has_interval() || !below.has_interval();
  return ratio;
}

Estimate JackknifeOf(int count, const std::function<double(int left_out)>& figure, double miss) {
  const double all = figure(-1);
  if (count < 2) return {all, all, all, count, false, true};
  std::vector<double> pseudo_values;
  for (int i = 0; i < count; ++i) pseudo_values.push_back(count * all - (count - 1) * figure(i));
  const Estimate spread = MeanOf(pseudo_values, miss);
  // The middle is that of all runs: the jackknife's own, corrected for bias, varies more.
  const double half = spread.high - spread.middle;
  return {all, all - half, all + half, count};
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
