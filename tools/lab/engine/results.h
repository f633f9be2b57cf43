// The measured values: every metric of every point with every seed.
//
// Threads: Results is built by one thread, then immutable.
// Units: metric names end with their unit: "response_ms_mean", "loss_percent".

#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/statistics/estimate.h"

namespace search::lab {

// How long an experiment may take.
enum class Length {
  kSmoke,  // at most 5 s: only rows marked Shape() count
  kQuick,  // at most 60 s
  kFull,   // the final verdict: repeats until every line is decided
};
std::string_view LengthName(Length length);

// One setting of the varied parameters: names and values in the order of files and tables.
class Point {
 public:
  Point(std::initializer_list<std::pair<std::string, std::string>> values = {}) : values_(values) {}

  Point& Set(std::string name, std::string value);
  Point& Set(std::string name, double value) { return Set(std::move(name), ShortText(value)); }
  // A copy with one value replaced. REQUIRES: the point has that name.
  Point With(const std::string& name, std::string value) const;
  Point With(const std::string& name, double value) const { return With(name, ShortText(value)); }
  // REQUIRES: the point has that name.
  const std::string& Text(std::string_view name) const;
  // REQUIRES: the point has that name, with a number as its value.
  double Number(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& values() const { return values_; }
  // "workload=Fine-Grain load=0.9".
  std::string ToString() const;

  friend auto operator<=>(const Point&, const Point&) = default;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

using Measurement = std::map<std::string, double>;

class Results {
 public:
  // `miss` is the share of the intervals below that may miss the true figure.
  explicit Results(Length length, double miss = kMiss) : length_(length), miss_(miss) {}

  // The same values with intervals for a figure that is the best of `choices` figures: they are
  // wider (Bonferroni), because the best of many is partly the luckiest.
  Results AmongBest(int choices) const;
  // The same values with other intervals.
  Results WithMiss(double miss) const;

  // Results of one point are added in the order of seeds, so that equal indices have equal seeds.
  void Add(const Point& point, Measurement measurement);

  Length length() const { return length_; }
  // In the order in which they were first added.
  const std::vector<Point>& points() const { return points_; }
  bool Has(const Point& point) const { return measured_.contains(point); }
  const std::vector<Measurement>& Of(const Point& point) const;
  // REQUIRES, for all functions below: every run of the point returned the metric.
  std::vector<double> Values(const Point& point, const std::string& metric) const;

  // The mean of figures that were made of Values(), one a run.
  Estimate MeanOfRuns(const std::vector<double>& values) const { return MeanOf(values, miss_); }
  Estimate Mean(const Point& point, const std::string& metric) const;
  Estimate Median(const Point& point, const std::string& metric) const;
  // The ratio of `above` to `below`, seed by seed, which cancels the noise that both share.
  Estimate MeanRatio(const Point& above, const Point& below, const std::string& metric) const;
  Estimate MedianRatio(const Point& above, const Point& below, const std::string& metric) const;
  // The largest value of all runs, as a statement about them: for what must never happen.
  Estimate Largest(const Point& point, const std::string& metric) const;
  // A figure that needs all runs together: `figure` computes it from results; the interval is that
  // of tools/statistics/estimate.h. REQUIRES: all points have the same number of runs.
  Estimate Jackknife(const std::function<double(const Results&)>& figure) const;
  // The smallest number of runs of a point.
  int run_count() const;

 private:
  std::vector<double> Ratios(const Point& above, const Point& below,
                             const std::string& metric) const;

  Length length_;
  double miss_;
  std::vector<Point> points_;
  std::map<Point, std::vector<Measurement>> measured_;
};

}  // namespace search::lab
