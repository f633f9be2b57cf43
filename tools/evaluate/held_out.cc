#include "tools/evaluate/held_out.h"

namespace search::tools {

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

size_t BestSetting(const std::vector<SettingValues>& collections,
                   const std::vector<bool>& choosing) {
  size_t best = 0;
  double best_sum = -1;
  for (size_t setting = 0; setting < collections[0].by_setting.size(); ++setting) {
    double sum = 0;
    for (size_t i = 0; i < collections.size(); ++i) {
      if (choosing[i]) sum += MeanOf(collections[i].by_setting[setting]);
    }
    if (sum > best_sum) {
      best = setting;
      best_sum = sum;
    }
  }
  return best;
}

Estimate Difference(const SettingValues& collection, size_t setting, uint64_t seed) {
  std::vector<double> differences = collection.by_setting[setting];
  for (size_t i = 0; i < differences.size(); ++i) differences[i] -= collection.baseline[i];
  return EstimateMean(differences, seed);
}

std::vector<HeldOut> LeaveOneOut(const std::vector<SettingValues>& collections, uint64_t seed) {
  std::vector<HeldOut> held_out;
  for (size_t i = 0; i < collections.size(); ++i) {
    std::vector<bool> choosing(collections.size(), true);
    choosing[i] = false;
    const size_t setting = BestSetting(collections, choosing);
    held_out.push_back({setting, Difference(collections[i], setting, seed)});
  }
  return held_out;
}

}  // namespace search::tools
