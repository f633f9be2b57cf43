// The index tier "segment": one mapped segment of the index core, searched with dynamic pruning.
//
// Source: index/core.
// Threads, errors, limits: as in index_tier.h and tier_builder.h.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/tier/index_tier.h"
#include "index/tier/segment/segment_messages.h"
#include "index/tier/tier_builder.h"
#include "neptune/base/status.h"

namespace search::index {

neptune::StatusOr<std::unique_ptr<IndexTier>> OpenSegmentTier(const std::string& directory,
                                                              uint64_t index_version);
neptune::StatusOr<std::unique_ptr<TierBuilder>> CreateSegmentTierBuilder(
    const TierBuilderOptions& options);
neptune::Status FinishSegmentCollection(const std::vector<std::string>& directories,
                                        const TierCollectionOptions& options);

}  // namespace search::index
