// One set-up measured at several rates: its saturation point, and interpolated figures.
//
// Threads: pure functions and values.
// Units: rates as in the points.
// Limits: figures are interpolated linearly between measured rates, and constant beyond the ends.

#pragma once

#include <string>
#include <vector>

#include "tools/lab/engine/results.h"
#include "tools/plot/plot.h"

namespace search::lab {

class RateSweep {
 public:
  // Uses the points that equal `like` except in `rate_name`. REQUIRES: there is one.
  RateSweep(const Results& results, const Point& like, std::string rate_name);

  // The highest rate up to which the mean of the metric is at least `least`; the lowest rate if
  // none is.
  double LastRateWith(const std::string& metric, double least) const;
  // The metric at a rate, one value for each seed.
  std::vector<double> At(const std::string& metric, double rate) const;
  Estimate MeanAt(const std::string& metric, double rate) const {
    return results_.MeanOfRuns(At(metric, rate));
  }
  const Results& results() const { return results_; }
  // The largest mean of the metric over all rates, with the interval of the best of them.
  Estimate Best(const std::string& metric) const;
  // The mean of the metric and its interval, by rate.
  plot::Series SeriesOf(const std::string& name, const std::string& metric) const;

 private:
  const Results& results_;
  std::vector<Point> points_;  // by rate
  std::vector<double> rates_;
};

// The ratio of `above` to `below` at one rate, seed by seed.
Estimate RatioAt(const RateSweep& above, const RateSweep& below, const std::string& metric,
                 double rate);

}  // namespace search::lab
