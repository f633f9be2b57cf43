// Searches all partitions of a collection in this process, without a cluster: for builds,
// experiments and tests.
//
// Threads: as thread-safe as the tiers.
// Errors: the first error of a partition; INVALID_ARGUMENT if there is no partition.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "index/tier/index_tier.h"
#include "index/tier/tier.pb.h"
#include "neptune/base/status.h"

namespace search::index {

// Opens each folder as a partition of the variant.
neptune::StatusOr<std::vector<std::unique_ptr<IndexTier>>> OpenPartitions(
    const std::string& implementation, std::span<const std::string> folders);

// The merged answer of all partitions, one after the other.
neptune::StatusOr<TierAnswer> SearchPartitions(
    std::span<const std::unique_ptr<IndexTier>> partitions, const TierQuery& query);

}  // namespace search::index
