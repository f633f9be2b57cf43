// Chooses a setting on some collections and measures it on others.
//
// Source: cross-validation with whole collections left out: a setting chosen among many looks
//   better than it is on the queries it was chosen on.
// Threads: pure functions.
// Shapes: by_setting[setting][query], the same settings for all collections.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/evaluate/bootstrap.h"

namespace search::tools {

// The value of a measure for each query under each setting.
struct SettingValues {
  std::string collection;
  std::vector<std::vector<double>> by_setting;
  std::vector<double> baseline;  // by query, under the baseline setting
};

double MeanOf(const std::vector<double>& values);

// Returns the setting with the largest mean over collections of the mean over queries; the first
// one on ties. `choosing[i]`: true if collection i takes part. REQUIRES: there is at least one
// setting.
size_t BestSetting(const std::vector<SettingValues>& collections,
                   const std::vector<bool>& choosing);

struct HeldOut {
  size_t setting = 0;   // chosen by all other collections
  Estimate difference;  // from the baseline, on the held-out collection
};

// Holds out each collection in turn.
std::vector<HeldOut> LeaveOneOut(const std::vector<SettingValues>& collections, uint64_t seed);

// Difference of a setting to the baseline, with its paired interval.
Estimate Difference(const SettingValues& collection, size_t setting, uint64_t seed);

}  // namespace search::tools
