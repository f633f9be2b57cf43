// Settings of both ranking phases, as text: NAME=VALUE parts with spaces between them, such as
//   k1=0.9 body_b=0.4 title_weight=1 second_phase=0
//
// Threads: plain values.
// Errors: INVALID_ARGUMENT for an unknown name, a value that is no number or out of range, naming
//   it.
// Limits: kSettingsMax settings.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/rerank/second_phase.h"
#include "index/core/search/ranking.h"
#include "index/core/search/searcher.h"
#include "neptune/base/status.h"

namespace search::tools {

inline constexpr size_t kSettingsMax = 10'000;

struct Setting {
  std::string text;  // what it was read from
  index::RankingOptions ranking;
  // Documents that the second phase rates; 0: none.
  size_t second_phase_count = index::kSecondPhaseCountDefault;
  index::SecondPhaseWeights second_phase;
};

// Names of the parts, for people.
std::string SettingNames();

// What is not named keeps its default.
neptune::StatusOr<Setting> ParseSetting(std::string_view text);

// Values may be lists, k1=0.9,1.2,1.5: all combinations, the last part changing fastest.
neptune::StatusOr<std::vector<Setting>> ExpandSettings(std::string_view text);

}  // namespace search::tools
