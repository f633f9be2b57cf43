// The registered index tiers by the name that a cluster spec uses: the single list of variants, and
// functions that build and open partitions of any of them.
//
// Threads: the list is constant; building and opening are independent. Errors: INVALID_ARGUMENT,
//   with the known names, for any other name. OpenIndexTier: NOT_FOUND no finished partition there;
//   FAILED_PRECONDITION one of another variant; DATA_LOSS a damaged one.
//
// A directory holds one partition of one variant, sealed by the file kTierSealName, whose
// description is "neptune-index-tier 1 VARIANT INDEX_VERSION".

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/tier/index_tier.h"
#include "index/tier/tier_builder.h"
#include "neptune/base/sealed_directory.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr char kTierSealName[] = "TIER";

struct IndexTierVariant {
  std::string_view name;
  neptune::StatusOr<std::unique_ptr<IndexTier>> (*open)(const std::string& directory,
                                                        uint64_t index_version);
  neptune::StatusOr<std::unique_ptr<TierBuilder>> (*create_builder)(
      const TierBuilderOptions& options);
  // Computes the common statistics of finished partitions.
  neptune::Status (*finish_collection)(const std::vector<std::string>& directories,
                                       const TierCollectionOptions& options);
  // Extent of the seal: whole files for a format without checksums of its own.
  neptune::SealExtent seal_extent = neptune::SealExtent::kEnds;
};

// Every variant, in alphabetical order. A new one is added to the array in registry.cc.
std::span<const IndexTierVariant> RegisteredIndexTiers();

// Starts building one partition for variant `implementation`.
neptune::StatusOr<std::unique_ptr<TierBuilder>> CreateTierBuilder(
    std::string_view implementation, const TierBuilderOptions& options);

// Makes partitions searchable and seals each: `directories` are all of the collection, both tiers,
// each finished by a builder of this variant.
neptune::Status FinishTierCollection(std::string_view implementation,
                                     const std::vector<std::string>& directories,
                                     const TierCollectionOptions& options);

// Opens one partition for searching.
neptune::StatusOr<std::unique_ptr<IndexTier>> OpenIndexTier(std::string_view implementation,
                                                            const std::string& directory);

// Contents of a finished partition's seal.
struct TierFolder {
  std::string implementation;
  uint64_t index_version = 0;
};

neptune::StatusOr<TierFolder> ReadTierFolder(const std::string& directory);
// The variant that the partition in `directory` was built for.
neptune::StatusOr<std::string> DetectIndexTier(const std::string& directory);

}  // namespace search::index
