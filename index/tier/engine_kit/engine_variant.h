// Turns an EngineDriver into a variant of the index tier, as registry.h expects it.
//
// Threads, errors: as in index_tier.h and tier_builder.h. A whole search runs within
//   TierSearchControl::read, with a searcher of its own that is kept for later searches.
// Limits: as many searchers as the maximal number of concurrent searches; 16 bytes per document of
//   an open partition; while a collection is finished, its vocabulary and 8 bytes per document.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/tier/engine_kit/engine.h"
#include "index/tier/engine_kit/engine_partition.h"
#include "index/tier/index_tier.h"
#include "index/tier/tier_builder.h"
#include "neptune/base/status.h"

namespace search::index {

neptune::StatusOr<std::unique_ptr<TierBuilder>> CreateEngineBuilder(
    const EngineDriver& driver, const TierBuilderOptions& options);

// Computes the common statistics of finished partitions.
neptune::Status FinishEngineCollection(const EngineDriver& driver,
                                       const std::vector<std::string>& directories,
                                       const TierCollectionOptions& options);

// Reads the part of a partition that the kit keeps in memory.
neptune::StatusOr<EnginePartition> ReadEnginePartition(const EngineDriver& driver,
                                                       const std::string& directory,
                                                       uint64_t index_version);

// REQUIRES: the driver's stores have a searcher.
neptune::StatusOr<std::unique_ptr<IndexTier>> OpenEngineTier(const EngineDriver& driver,
                                                             const std::string& directory,
                                                             uint64_t index_version);

// The three functions bound to one driver, for the list in registry.cc.
template <const EngineDriver& driver>
struct EngineVariant {
  static neptune::StatusOr<std::unique_ptr<IndexTier>> Open(const std::string& directory,
                                                            uint64_t index_version) {
    return OpenEngineTier(driver, directory, index_version);
  }
  static neptune::StatusOr<std::unique_ptr<TierBuilder>> CreateBuilder(
      const TierBuilderOptions& options) {
    return CreateEngineBuilder(driver, options);
  }
  static neptune::Status FinishCollection(const std::vector<std::string>& directories,
                                          const TierCollectionOptions& options) {
    return FinishEngineCollection(driver, directories, options);
  }
};

}  // namespace search::index
