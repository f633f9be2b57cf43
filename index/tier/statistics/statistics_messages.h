// Converts a partition's counts to messages of bounded size, and back.
//
// Threads: pure functions.
// Errors: INVALID_ARGUMENT for malformed or inconsistent bytes.
// Limits: kPageTermsMax terms per page: about 140 KiB with the longest keys, far below
//   neptune::kMessageSizeMax.

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

// Stream: StatisticsQuery to ChangedTermsPage.
inline constexpr char kChangedTermsMethod[] = "ChangedTerms";
// Reads: StatisticsQuery to StatisticsState, FrequencyQuery to FrequencyAnswer.
inline constexpr char kStatisticsStateMethod[] = "StatisticsState";
inline constexpr char kPublishedFrequenciesMethod[] = "PublishedFrequencies";

inline constexpr size_t kPageTermsMax = 1000;

// Counts of a partition, with the index and the change up to which they were counted.
struct CountedPartition {
  uint64_t index_version = 0;
  uint64_t change_count = 0;
  ChangedTerms changed;
};

// Returns at least one page.
std::vector<ChangedTermsPage> PagesOf(const CountedPartition& counted);
neptune::StatusOr<CountedPartition> ReadPage(std::string_view bytes);

}  // namespace search::index
