#include "tools/lab/engine/results.h"

#include <glog/logging.h>

#include <algorithm>
#include <charconv>

namespace search::lab {
namespace {

template <typename Values>
auto FindName(Values& values, std::string_view name) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const auto& value) { return value.first == name; });
  CHECK(found != values.end()) << "the point has no '" << name << "'";
  return found;
}

}  // namespace

std::string_view LengthName(Length length) {
  switch (length) {
    case Length::kSmoke:
      return "smoke";
    case Length::kQuick:
      return "quick";
    case Length::kFull:
      break;
  }
  return "full";
}

Point& Point::Set(std::string name, std::string value) {
  values_.emplace_back(std::move(name), std::move(value));
  return *this;
}

Point Point::With(const std::string& name, std::string value) const {
  Point other = *this;
  FindName(other.values_, name)->second = std::move(value);
  return other;
}

const std::string& Point::Text(std::string_view name) const {
  return FindName(values_, name)->second;
}

double Point::Number(std::string_view name) const {
  const std::string& text = Text(name);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  CHECK(error == std::errc() && end == text.data() + text.size())
      << name << " of the point is '" << text << "', not a number";
  return value;
}

std::string Point::ToString() const {
  std::string text;
  for (const auto& [name, value] : values_) {
    if (!text.empty()) text += ' ';
    text += name + "=" + value;
  }
  return text;
}

void Results::Add(const Point& point, Measurement measurement) {
  std::vector<Measurement>& runs = measured_[point];
  if (runs.empty()) points_.push_back(point);
  runs.push_back(std::move(measurement));
}

const std::vector<Measurement>& Results::Of(const Point& point) const {
  const auto found = measured_.find(point);
  CHECK(found != measured_.end()) << "point " << point.ToString() << " was not run";
  return found->second;
}

std::vector<double> Results::Values(const Point& point, const std::string& metric) const {
  std::vector<double> values;
  for (const Measurement& run : Of(point)) {
    const auto found = run.find(metric);
    CHECK(found != run.end()) << "no " << metric << " at " << point.ToString();
    values.push_back(found->second);
  }
  return values;
}

Estimate Results::Mean(const Point& point, const std::string& metric) const {
  return MeanOf(Values(point, metric), miss_);
}

Estimate Results::Median(const Point& point, const std::string& metric) const {
  return MedianOf(Values(point, metric), miss_);
}

std::vector<double> Results::Ratios(const Point& above, const Point& below,
                                    const std::string& metric) const {
  std::vector<double> ratios = Values(above, metric);
  const std::vector<double> divisors = Values(below, metric);
  CHECK_EQ(ratios.size(), divisors.size());
  for (size_t i = 0; i < ratios.size(); ++i) ratios[i] /= divisors[i];
  return ratios;
}

Estimate Results::MeanRatio(const Point& above, const Point& below,
                            const std::string& metric) const {
  return MeanOf(Ratios(above, below, metric), miss_);
}

Estimate Results::MedianRatio(const Point& above, const Point& below,
                              const std::string& metric) const {
  return MedianOf(Ratios(above, below, metric), miss_);
}

Estimate Results::Largest(const Point& point, const std::string& metric) const {
  return LargestOf(Values(point, metric));
}

Results Results::AmongBest(int choices) const { return WithMiss(miss_ / std::max(1, choices)); }

Results Results::WithMiss(double miss) const {
  Results other = *this;
  other.miss_ = miss;
  return other;
}

int Results::run_count() const {
  size_t least = points_.empty() ? 0 : Of(points_.front()).size();
  for (const Point& point : points_) least = std::min(least, Of(point).size());
  return static_cast<int>(least);
}

Estimate Results::Jackknife(const std::function<double(const Results&)>& figure) const {
  return JackknifeOf(
      run_count(),
      [&](int left_out) {
        if (left_out < 0) return figure(*this);
        Results others(length_, miss_);
        for (const Point& point : points_) {
          const std::vector<Measurement>& runs = Of(point);
          for (size_t i = 0; i < runs.size(); ++i) {
            if (static_cast<int>(i) != left_out) others.Add(point, runs[i]);
          }
        }
        return figure(others);
      },
      miss_);
}

}  // namespace search::lab
