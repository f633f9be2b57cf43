// A foreign engine as a variant of the index tier: what registry.h wants to know of one, from an EngineDriver.
//
// Threads, errors: as index_tier.h and tier_builder.h say. A search runs within TierSearchControl::read as a whole, with
//   a searcher of its own that is kept for the next one afterwards.
// Limits: as many searchers as searches ran at once; 16 bytes a document of an open partition; while a collection is
//   finished, its vocabulary and 8 bytes a document.

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

// Gives finished partitions their common statistics.
neptune::Status FinishEngineCollection(const EngineDriver& driver,
                                       const std::vector<std::string>& directories,
                                       const TierCollectionOptions& options);

// What the kit reads of a partition when it is opened.
neptune::StatusOr<EnginePartition> ReadEnginePartition(const EngineDriver& driver,
                                                       const std::string& directory,
                                                       uint64_t index_version);

// REQUIRES: the driver's stores are Engines.
neptune::StatusOr<std::unique_ptr<IndexTier>> OpenEngineTier(const EngineDriver& driver,
                                                             const std::string& directory,
                                                             uint64_t index_version);

// The three as functions of one driver, for the list in registry.cc.
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
