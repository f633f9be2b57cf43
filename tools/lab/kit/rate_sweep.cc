#include "tools/lab/kit/rate_sweep.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace search::lab {

RateSweep::RateSweep(const Results& results, const Point& like, std::string rate_name)
    : results_(results) {
  for (const Point& point : results.points()) {
    const bool named = std::any_of(point.values().begin(), point.values().end(),
                                   [&](const auto& value) { return value.first == rate_name; });
    if (named && point == like.With(rate_name, point.Text(rate_name))) points_.push_back(point);
  }
  CHECK(!points_.empty()) << like.ToString();
  std::sort(points_.begin(), points_.end(), [&](const Point& a, const Point& b) {
    return a.Number(rate_name) < b.Number(rate_name);
  });
  for (const Point& point : points_) rates_.push_back(point.Number(rate_name));
}

double RateSweep::LastRateWith(const std::string& metric, double least) const {
  double before = 0;
  for (size_t i = 0; i < points_.size(); ++i) {
    const double here = results_.Mean(points_[i], metric).middle;
    if (here < least) {
      if (i == 0) return rates_[0];
      return rates_[i - 1] + (rates_[i] - rates_[i - 1]) * (before - least) / (before - here);
    }
    before = here;
  }
  return rates_.back();
}

std::vector<double> RateSweep::At(const std::string& metric, double rate) const {
  const auto above = std::lower_bound(rates_.begin(), rates_.end(), rate);
  if (above == rates_.begin()) return results_.Values(points_.front(), metric);
  if (above == rates_.end()) return results_.Values(points_.back(), metric);
  const auto i = static_cast<size_t>(above - rates_.begin());
  const double share = (rate - rates_[i - 1]) / (rates_[i] - rates_[i - 1]);
  std::vector<double> values = results_.Values(points_[i - 1], metric);
  const std::vector<double> next = results_.Values(points_[i], metric);
  for (size_t seed = 0; seed < values.size(); ++seed) {
    values[seed] += share * (next[seed] - values[seed]);
  }
  return values;
}

Estimate RateSweep::Best(const std::string& metric) const {
  const Results chosen = results_.AmongBest(static_cast<int>(points_.size()));
  Estimate best = chosen.Mean(points_.front(), metric);
  for (const Point& point : points_) {
    const Estimate here = chosen.Mean(point, metric);
    if (here.middle > best.middle) best = here;
  }
  return best;
}

plot::Series RateSweep::SeriesOf(const std::string& name, const std::string& metric) const {
  plot::Series series{.name = name, .dots = {}};
  for (size_t i = 0; i < points_.size(); ++i) {
    const Estimate mean = results_.Mean(points_[i], metric);
    series.dots.push_back({rates_[i], mean.middle, mean.low, mean.high});
  }
  return series;
}

Estimate RatioAt(const RateSweep& above, const RateSweep& below, const std::string& metric,
                 double rate) {
  std::vector<double> ratios = above.At(metric, rate);
  const std::vector<double> other = below.At(metric, rate);
  CHECK_EQ(ratios.size(), other.size());
  for (size_t seed = 0; seed < ratios.size(); ++seed) ratios[seed] /= other[seed];
  return above.results().MeanOfRuns(ratios);
}

}  // namespace search::lab
