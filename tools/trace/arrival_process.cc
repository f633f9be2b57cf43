#include "tools/trace/arrival_process.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace search::tools {
namespace {

constexpr double kHourS = 3600;
constexpr size_t kHours = 24;
// Sharper than this no curve need be; the peak of 24 hours is at most 24 times their mean.
constexpr double kPowerMax = 64;

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> Raised(std::vector<double> values, double power) {
  const double peak = *std::max_element(values.begin(), values.end());
  for (double& value : values) value = std::pow(value / peak, power);
  return values;
}

// The curve with a mean of 1 over the hours that the trace covers.
std::vector<double> CurveOf(const TraceProfile& profile) {
  if (!profile.has_curve()) return std::vector<double>(kHours, 1.0);
  const DailyCurve& curve = profile.curve();
  std::vector<double> factors = SharpenCurve(
      {curve.hourly_rates().begin(), curve.hourly_rates().end()}, curve.peak_to_mean());
  double sum = 0;
  for (double at = 0; at < profile.duration_s(); at += kHourS) {
    const double covered = std::min(kHourS, profile.duration_s() - at);
    sum += covered * factors[(curve.start_hour() + static_cast<size_t>(at / kHourS)) % kHours];
  }
  for (double& factor : factors) factor *= profile.duration_s() / sum;
  return factors;
}

}  // namespace

std::vector<double> SharpenCurve(std::vector<double> rates, double peak_to_mean) {
  const auto [low, high] = std::minmax_element(rates.begin(), rates.end());
  if (peak_to_mean <= 0 || *low == *high) return rates;
  double power_low = 0;
  double power_high = kPowerMax;
  for (int i = 0; i < 100; ++i) {
    const double power = (power_low + power_high) / 2;
    // The peak of Raised is 1.
    (1 / Mean(Raised(rates, power)) < peak_to_mean ? power_low : power_high) = power;
  }
  return Raised(std::move(rates), power_low);
}

ArrivalProcess::ArrivalProcess(const TraceProfile& profile, uint64_t seed)
    : profile_(profile),
      gap_random_(seed),
      rate_random_(seed ^ 0x72617465),
      curve_(CurveOf(profile)) {
  if (profile.has_bursts()) {
    const Bursts& bursts = profile.bursts();
    const double share = 1 - std::exp(-bursts.per_hour() / kHourS * bursts.duration_s());
    burst_mean_ = 1 + share * (bursts.factor() - 1);
  }
  fluctuation_ = Gaussian();
  EnterStep();
}

// Box and Muller, one of the two values: the other would be state for nothing.
double ArrivalProcess::Gaussian() {
  const double radius = std::sqrt(-2 * std::log1p(-rate_random_.Uniform()));
  return radius * std::cos(2 * std::numbers::pi * rate_random_.Uniform());
}

// Marsaglia and Tsang (2000); a shape below 1 by their boost.
double ArrivalProcess::GammaOfMeanOne() {
  const double variation = profile_.gap_variation();
  if (variation == 0 || variation == 1) return gap_random_.Exponential(1);
  const double shape = 1 / (variation * variation);
  const double d = std::max(shape, shape < 1 ? shape + 1 : shape) - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double radius = std::sqrt(-2 * std::log1p(-gap_random_.Uniform()));
    const double x = radius * std::cos(2 * std::numbers::pi * gap_random_.Uniform());
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    const double u = 1 - gap_random_.Uniform();
    if (std::log(u) >= 0.5 * x * x + d - d * v + d * std::log(v)) continue;
    const double boost = shape < 1 ? std::pow(1 - gap_random_.Uniform(), 1 / shape) : 1;
    return d * v * boost / shape;
  }
}

void ArrivalProcess::EnterStep() {
  const double at_s = static_cast<double>(step_) * kStepS;
  const size_t hour = static_cast<size_t>(at_s / kHourS) + profile_.curve().start_hour();
  rate_ = 1000 / profile_.gap_mean_ms() * curve_[hour % kHours] / burst_mean_;
  if (profile_.has_fluctuation()) {
    const double deviation = profile_.fluctuation().deviation();
    const double kept = std::exp(-kStepS / profile_.fluctuation().correlation_s());
    fluctuation_ = kept * fluctuation_ + std::sqrt(1 - kept * kept) * Gaussian();
    rate_ *= std::exp(deviation * fluctuation_ - deviation * deviation / 2);
  }
  if (!profile_.has_bursts()) return;
  burst_left_s_ -= kStepS;
  const double begins = 1 - std::exp(-profile_.bursts().per_hour() * kStepS / kHourS);
  if (rate_random_.Uniform() < begins) burst_left_s_ = profile_.bursts().duration_s();
  if (burst_left_s_ > 0) rate_ *= profile_.bursts().factor();
}

double ArrivalProcess::NextUs() {
  double left = GammaOfMeanOne();  // in requests: time at the rate of one a second
  for (;;) {
    const double step_end_s = static_cast<double>(step_ + 1) * kStepS;
    const double in_step = (step_end_s - position_s_) * rate_;
    if (left < in_step) {
      position_s_ += left / rate_;
      return position_s_ * 1e6;
    }
    left -= in_step;
    position_s_ = step_end_s;
    ++step_;
    EnterStep();
  }
}

}  // namespace search::tools
