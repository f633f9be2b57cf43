// Settings of both ranking phases, as text: NAME=VALUE parts with spaces between them, such as
//   k1=0.9 body_b=0.4 title_weight=1 second_phase=0
//
// Threads: plain values.
// Errors: INVALID_ARGUMENT an unknown name, or a value that is not a number or out of range; the
//   message names it.
// Limits: kSettingsMax settings.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/rerank/second_phase.h"
#include "index/core/search/ranking.h"
#include "index/core/search/searcher.h"
#include "neptune/base/status.h"
#include "tools/build_index/link_texts.h"

namespace search::tools {

inline constexpr size_t kSettingsMax = 10'000;

// What an index of a linked corpus gets from links and headings. Another value needs another index.
struct EvidenceOptions {
  LinkTextOptions link_texts;
  // Times that each heading is written into the extra text; 0: headings are in the body alone.
  uint32_t heading_copies = 0;
  // Steepness of the saturating form of the static rank; 0: the logarithm that page_rank.h scales.
  float rank_slope = 0;

  bool operator==(const EvidenceOptions&) const = default;
};

struct Setting {
  std::string text;  // the text it was parsed from
  index::RankingOptions ranking;
  // Documents re-ranked by the second phase; 0: no second phase.
  size_t second_phase_count = index::kSecondPhaseCountDefault;
  index::SecondPhaseWeights second_phase;
  EvidenceOptions evidence;
};

// Returns the parameter names, for messages.
std::string SettingNames();

// Parameters that are not given keep their defaults.
neptune::StatusOr<Setting> ParseSetting(std::string_view text);

// Values may be lists, k1=0.9,1.2,1.5: returns all combinations, with the last part changing
// fastest.
neptune::StatusOr<std::vector<Setting>> ExpandSettings(std::string_view text);

}  // namespace search::tools
