#include "tools/workload/distribution.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>

namespace search::workload {
namespace {

constexpr double kQuantile90 = 1.2815515655446004;  // of the standard normal distribution

double NormalCdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

// Log-normal with parameters mu and sigma, cut off at max.
struct CutLogNormal {
  double mu;
  double sigma;
  double max;

  // The k-th moment is that of the uncut one times the share of a shifted normal that the cut
  // leaves.
  double Moment(int k) const {
    const double z = (std::log(max) - mu) / sigma;
    return std::exp(k * mu + k * k * sigma * sigma / 2) * NormalCdf(z - k * sigma) / NormalCdf(z);
  }
  double CdfAt(double x) const {
    return NormalCdf((std::log(x) - mu) / sigma) / NormalCdf((std::log(max) - mu) / sigma);
  }
};

// The mu that gives `mean` at this sigma: the mean grows with mu.
double MuFor(double mean, double sigma, double max) {
  double low = std::log(mean) - 20;
  double high = std::log(max) + 5;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (CutLogNormal{middle, sigma, max}.Moment(1) < mean ? low : high) = middle;
  }
  return low;
}

// Marsaglia and Tsang (2000); a shape below 1 through one above it.
double SampleGamma(double shape, neptune::RandomSource& random);

double SampleNormal(neptune::RandomSource& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.Uniform()));
  return radius * std::cos(2 * M_PI * random.Uniform());
}

double SampleGamma(double shape, neptune::RandomSource& random) {
  if (shape < 1) {
    return SampleGamma(shape + 1, random) * std::pow(1 - random.Uniform(), 1 / shape);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = SampleNormal(random);
    const double v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(1 - random.Uniform()) < x * x / 2 + d - d * v + d * std::log(v)) {
      return d * v;
    }
  }
}

}  // namespace

Distribution Distribution::Fixed(double value) {
  CHECK_GT(value, 0);
  Distribution fixed(Kind::kFixed);
  fixed.mean_ = value;
  return fixed;
}

Distribution Distribution::Exponential(double mean) {
  CHECK_GT(mean, 0);
  Distribution exponential(Kind::kExponential);
  exponential.mean_ = exponential.deviation_ = exponential.a_ = mean;
  return exponential;
}

Distribution Distribution::Gamma(double mean, double deviation) {
  CHECK_GT(mean, 0);
  CHECK_GT(deviation, 0);
  Distribution gamma(Kind::kGamma);
  gamma.mean_ = mean;
  gamma.deviation_ = deviation;
  gamma.a_ = mean * mean / (deviation * deviation);
  gamma.b_ = deviation * deviation / mean;
  return gamma;
}

Distribution Distribution::HeavyTail(double mean, double p90, double max) {
  CHECK(mean < p90 && p90 < max);
  // Seen from the heavy side, the 90th percentile at a fixed mean first grows as sigma falls: halve
  // the range in which it passes p90.
  const auto share_below = [&](double sigma) {
    return CutLogNormal{MuFor(mean, sigma, max), sigma, max}.CdfAt(p90);
  };
  double low = kQuantile90;
  double high = 4;
  CHECK(share_below(low) < 0.9 && share_below(high) > 0.9) << "no distribution has these moments";
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (share_below(middle) < 0.9 ? low : high) = middle;
  }
  const CutLogNormal fit{MuFor(mean, low, max), low, max};
  Distribution tail(Kind::kHeavyTail);
  tail.a_ = fit.mu;
  tail.b_ = fit.sigma;
  tail.max_ = max;
  tail.mean_ = fit.Moment(1);
  tail.deviation_ = std::sqrt(fit.Moment(2) - fit.Moment(1) * fit.Moment(1));
  return tail;
}

Distribution Distribution::Choice(std::vector<std::pair<double, double>> value_weights) {
  CHECK(!value_weights.empty());
  double total = 0;
  for (const auto& [value, weight] : value_weights) {
    CHECK(value > 0 && weight > 0);
    total += weight;
  }
  Distribution choice(Kind::kChoice);
  double cumulated = 0;
  double squares = 0;
  for (auto& [value, weight] : value_weights) {
    choice.mean_ += value * weight / total;
    squares += value * value * weight / total;
    cumulated += weight / total;
    choice.choices_.emplace_back(value, cumulated);
  }
  choice.deviation_ = std::sqrt(std::max(0.0, squares - choice.mean_ * choice.mean_));
  return choice;
}

double Distribution::Sample(neptune::RandomSource& random) const {
  switch (kind_) {
    case Kind::kFixed:
      return mean_;
    case Kind::kExponential:
      return scale_ * random.Exponential(a_);
    case Kind::kGamma:
      return scale_ * b_ * SampleGamma(a_, random);
    case Kind::kHeavyTail:
      break;
    case Kind::kChoice: {
      const double at = random.Uniform();
      for (const auto& [value, cumulated] : choices_) {
        if (at < cumulated) return scale_ * value;
      }
      return scale_ * choices_.back().first;
    }
  }
  while (true) {
    const double value = std::exp(a_ + b_ * SampleNormal(random));
    if (value <= max_) return scale_ * value;
  }
}

Distribution Distribution::ScaledTo(double mean) const {
  CHECK_GT(mean, 0);
  Distribution scaled = *this;
  const double factor = mean / mean_;
  scaled.scale_ *= factor;
  scaled.mean_ = mean;
  scaled.deviation_ *= factor;
  return scaled;
}

}  // namespace search::workload
