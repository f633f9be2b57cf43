// Chooses a setting on some collections and measures it on others.
//
// Source: cross-validation with whole collections left out: a setting that was chosen among many
//   looks better than it is on the queries that chose it.
// Threads: pure functions.
// Shapes: by_setting[setting][query], the same settings for all collections.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/evaluate/bootstrap.h"

namespace search::tools {

// A measure of each query under each setting.
struct SettingValues {
  std::string collection;
  std::vector<std::vector<double>> by_setting;
  std::vector<double> baseline;  // by query, under the setting that the others are compared to
};

double MeanOf(const std::vector<double>& values);

// The setting with the largest mean over the collections of the mean over queries; of equal ones
// the first. `choosing[i]`: whether collection i takes part. REQUIRES: there is a setting.
size_t BestSetting(const std::vector<SettingValues>& collections,
                   const std::vector<bool>& choosing);

struct HeldOut {
  size_t setting = 0;   // chosen by all other collections
  Estimate difference;  // of it to the baseline on the one left out
};

// Leaves out each collection in turn.
std::vector<HeldOut> LeaveOneOut(const std::vector<SettingValues>& collections, uint64_t seed);

// Difference of a setting to the baseline, with its paired interval.
Estimate Difference(const SettingValues& collection, size_t setting, uint64_t seed);

}  // namespace search::tools
