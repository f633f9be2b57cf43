// One set-up measured at several rates: where it ends, and what it does in between.
//
// Threads: pure functions and values.
// Units: rates as in the points.
// Limits: between two measured rates figures are taken to be straight lines; beyond the ends they stay.

#pragma once

#include <string>
#include <vector>

#include "tools/lab/engine/results.h"
#include "tools/plot/plot.h"

namespace search::lab {

class RateSweep {
 public:
  // The points that are like `like` but for `rate_name`. REQUIRES: there is one.
  RateSweep(const Results& results, const Point& like, std::string rate_name);

  // The highest rate up to which the metric's mean is at least `least`; the lowest rate if it never is.
  double LastRateWith(const std::string& metric, double least) const;
  // The metric at a rate, one value a seed.
  std::vector<double> At(const std::string& metric, double rate) const;
  Estimate MeanAt(const std::string& metric, double rate) const { return MeanOf(At(metric, rate)); }
  // Largest mean of the metric over all rates.
  Estimate Best(const std::string& metric) const;
  // Rates, with the metric's mean and its interval.
  plot::Series SeriesOf(const std::string& name, const std::string& metric) const;

 private:
  const Results& results_;
  std::vector<Point> points_;  // by rate
  std::vector<double> rates_;
};

// Of `above` over `below` at one rate, seed by seed.
Estimate RatioAt(const RateSweep& above, const RateSweep& below, const std::string& metric,
                 double rate);

}  // namespace search::lab
