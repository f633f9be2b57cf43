// The index tier "xapian": documents in a Xapian database, which matches and finds the best; the scores are ours.
//
// The worked example of a foreign engine behind the tier interface (README.md). Xapian finds what matches, prunes and
// counts; weights come from the index core's Scorer over the collection's statistics by way of posting sources, so that
// answers are the same bits as those of every other variant.
//
// Source: none. Layer: index/tier/xapian.
// Threads, errors, limits: as index_tier.h and tier_builder.h say. A search reads its store all along, and so runs
//   within TierSearchControl::read as a whole; it holds one handle on the database, kept for the next one afterwards.
//   An open partition holds 16 bytes a document. No more than 2^32 - 2 documents.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/tier/index_tier.h"
#include "index/tier/tier_builder.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr char kXapianTierName[] = "xapian";

neptune::StatusOr<std::unique_ptr<IndexTier>> OpenXapianTier(const std::string& directory,
                                                             uint64_t index_version);
neptune::StatusOr<std::unique_ptr<TierBuilder>> CreateXapianBuilder(
    const TierBuilderOptions& options);
neptune::Status FinishXapianCollection(const std::vector<std::string>& directories,
                                       const TierCollectionOptions& options);

}  // namespace search::index
