#include "neptune/scheduling/class_consumption.h"

#include <algorithm>
#include <cmath>

namespace neptune {
namespace {

// Weights grow until they are rebased to a new moment; far below the limit of doubles.
constexpr double kWeightMax = 1e12;

}  // namespace

ClassConsumption::ClassConsumption(size_t class_count, double retention_per_second)
    : log_retention_(std::log(retention_per_second)), kept_(class_count, 0) {}

double ClassConsumption::WeightAt(TimePoint now) const {
  return std::exp(-log_retention_ * ToSeconds(now - moment_));
}

// Rebases all sums to the moment `now`.
void ClassConsumption::MoveMoment(TimePoint now) {
  const double weight = WeightAt(now);
  sum_ = 0;
  for (double& kept : kept_) {
    kept /= weight;
    sum_ += kept;
  }
  moment_ = now;
}

void ClassConsumption::Add(size_t service_class, double amount, TimePoint now) {
  newest_ = std::max(newest_, now);
  if (!(WeightAt(newest_) < kWeightMax)) MoveMoment(newest_);
  const double weighted = std::max(amount, 0.0) * WeightAt(newest_);
  kept_[service_class] += weighted;
  sum_ += weighted;
}

double ClassConsumption::Value(size_t service_class, TimePoint now) const {
  return kept_[service_class] / WeightAt(std::max(now, newest_));
}

}  // namespace neptune
