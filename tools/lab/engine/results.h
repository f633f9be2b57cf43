// What was measured: every metric of every point with every seed.
//
// Threads: Results is built by one thread, then immutable.
// Units: metric names end with their unit: "response_ms_mean", "loss_percent".

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/statistics/estimate.h"

namespace search::lab {

// How long an experiment is allowed to take, and so how much its verdict is worth.
enum class Length {
  kSmoke,  // at most 5 s: only rows marked Shape() count
  kQuick,  // at most 60 s: a line holds unless the interval denies it
  kFull,   // the verdict that counts: the middle must be on the line's side
};
std::string_view LengthName(Length length);

// One setting of what is varied: names and values in the order in which files and tables show them.
class Point {
 public:
  Point(std::initializer_list<std::pair<std::string, std::string>> values = {}) : values_(values) {}

  Point& Set(std::string name, std::string value);
  Point& Set(std::string name, double value) { return Set(std::move(name), ShortText(value)); }
  // The same point but for one value. REQUIRES: it has that name.
  Point With(const std::string& name, std::string value) const;
  Point With(const std::string& name, double value) const { return With(name, ShortText(value)); }
  // REQUIRES: it has that name.
  const std::string& Text(std::string_view name) const;
  // REQUIRES: it has that name, and a number as its value.
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
  explicit Results(Length length) : length_(length) {}

  // Seeds of one point are added in their order, so that equal places of two points are one seed.
  void Add(const Point& point, Measurement measurement);

  Length length() const { return length_; }
  // In the order in which they were first added.
  const std::vector<Point>& points() const { return points_; }
  bool Has(const Point& point) const { return measured_.contains(point); }
  const std::vector<Measurement>& Of(const Point& point) const;
  // REQUIRES of all below: every run of the point gave the metric.
  std::vector<double> Values(const Point& point, const std::string& metric) const;

  Estimate Mean(const Point& point, const std::string& metric) const;
  Estimate Median(const Point& point, const std::string& metric) const;
  // Of `above` over `below`, seed by seed: what both share cancels out.
  Estimate MeanRatio(const Point& above, const Point& below, const std::string& metric) const;
  Estimate MedianRatio(const Point& above, const Point& below, const std::string& metric) const;

 private:
  std::vector<double> Ratios(const Point& above, const Point& below,
                             const std::string& metric) const;

  Length length_;
  std::vector<Point> points_;
  std::map<Point, std::vector<Measurement>> measured_;
};

}  // namespace search::lab
