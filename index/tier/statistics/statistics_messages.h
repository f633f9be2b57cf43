// What a partition counted, as messages of bounded size, and back.
//
// Pure.
// Threads: pure functions.
// Errors: INVALID_ARGUMENT bytes that are no page, or one that contradicts itself.
// Limits: kPageTermsMax terms a page: some 140 KiB of the longest keys, far below neptune::kMessageSizeMax.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/partition/changed_terms.h"
#include "index/tier/statistics/statistics.pb.h"
#include "neptune/base/status.h"

namespace search::index {

// A stream: StatisticsQuery to ChangedTermsPage.
inline constexpr char kChangedTermsMethod[] = "ChangedTerms";
// Reads: StatisticsQuery to StatisticsState, FrequencyQuery to FrequencyAnswer.
inline constexpr char kStatisticsStateMethod[] = "StatisticsState";
inline constexpr char kPublishedFrequenciesMethod[] = "PublishedFrequencies";

inline constexpr size_t kPageTermsMax = 1000;

// What a partition counted, and for which index and up to which change.
struct CountedPartition {
  uint64_t index_version = 0;
  uint64_t change_count = 0;
  ChangedTerms changed;
};

// At least one.
std::vector<ChangedTermsPage> PagesOf(const CountedPartition& counted);
neptune::StatusOr<CountedPartition> ReadPage(std::string_view bytes);

}  // namespace search::index
