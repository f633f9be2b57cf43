#include "tools/evaluate/bootstrap.h"

#include <algorithm>
#include <random>

namespace search::tools {
namespace {

double Resample(const std::vector<double>& values, std::mt19937_64* random) {
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) sum += values[(*random)() % values.size()];
  return sum / static_cast<double>(values.size());
}

}  // namespace

Estimate EstimateMean(const std::vector<double>& values, uint64_t seed) {
  if (values.empty()) return {};
  double sum = 0;
  for (const double value : values) sum += value;
  std::mt19937_64 random(seed);
  std::vector<double> means;
  for (int i = 0; i < kResamples; ++i) means.push_back(Resample(values, &random));
  std::sort(means.begin(), means.end());
  const auto at = [&](double part) {
    return means[static_cast<size_t>(part * static_cast<double>(kResamples - 1))];
  };
  return {sum / static_cast<double>(values.size()), at(0.025), at(0.975)};
}

}  // namespace search::tools
