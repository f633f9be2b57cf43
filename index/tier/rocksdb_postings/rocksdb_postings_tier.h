// The index tier "rocksdb_postings": posting lists in RocksDB, evaluated exhaustively.
//
// Deliberately simple: it keeps the tier interface independent of one implementation and is the
// oracle for the pruned tier. Its scores are the index core's, from the same statistics, so its
// answers are bit-identical.
//
// Source: index/core for meaning and ranking.
// Threads, errors, limits: as in index_tier.h and tier_builder.h. A search also holds the encoded
//   postings of its words, at most kQueryPostingsSizeMax bytes, else RESOURCE_EXHAUSTED, and 8
//   bytes per match; an open partition takes 16 bytes per document.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/tier/index_tier.h"
#include "index/tier/tier_builder.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr char kRocksdbPostingsTierName[] = "rocksdb_postings";

neptune::StatusOr<std::unique_ptr<IndexTier>> OpenRocksdbPostingsTier(const std::string& directory,
                                                                      uint64_t index_version);
neptune::StatusOr<std::unique_ptr<TierBuilder>> CreateRocksdbPostingsBuilder(
    const TierBuilderOptions& options);
neptune::Status FinishRocksdbPostingsCollection(const std::vector<std::string>& directories,
                                                const TierCollectionOptions& options);

}  // namespace search::index
