#include "index/tier/registry.h"

#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "index/tier/engine_kit/engine_variant.h"
#include "index/tier/rocksdb_postings/rocksdb_postings_tier.h"
#include "index/tier/segment/segment_tier.h"
#include "index/tier/xapian/xapian_tier.h"

namespace search::index {
namespace {

constexpr std::string_view kFirstWords = "neptune-index-tier 1 ";

neptune::StatusOr<IndexTierVariant> FindVariant(std::string_view implementation) {
  std::string known;
  for (const IndexTierVariant& variant : RegisteredIndexTiers()) {
    if (variant.name == implementation) return variant;
    neptune::StrAppend(&known, known.empty() ? "" : ", ", variant.name);
  }
  return neptune::InvalidArgument("index tier '", implementation, "' is unknown; known: ", known);
}

}  // namespace

neptune::StatusOr<TierFolder> ReadTierFolder(const std::string& directory) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string description,
                           neptune::CheckSealedDirectory(directory, kTierSealName));
  const size_t blank = description.rfind(' ');
  TierFolder seal;
  const char* end = description.data() + description.size();
  if (description.starts_with(kFirstWords) && blank >= kFirstWords.size()) {
    seal.implementation = description.substr(kFirstWords.size(), blank - kFirstWords.size());
    const auto parsed = std::from_chars(description.data() + blank + 1, end, seal.index_version);
    if (parsed.ec == std::errc() && parsed.ptr == end) return seal;
  }
  return neptune::DataLoss("open index tier ", directory, ": unexpected seal '", description, "'");
}

std::span<const IndexTierVariant> RegisteredIndexTiers() {
  using Xapian = EngineVariant<kXapianDriver>;
  static constexpr IndexTierVariant kVariants[] = {
      {kRocksdbPostingsTierName, &OpenRocksdbPostingsTier, &CreateRocksdbPostingsBuilder,
       &FinishRocksdbPostingsCollection},
      {kSegmentTierName, &OpenSegmentTier, &CreateSegmentTierBuilder, &FinishSegmentCollection},
      {kXapianTierName, &Xapian::Open, &Xapian::CreateBuilder, &Xapian::FinishCollection,
       neptune::SealExtent::kWholeFiles},
  };
  return kVariants;
}

neptune::StatusOr<std::unique_ptr<TierBuilder>> CreateTierBuilder(
    std::string_view implementation, const TierBuilderOptions& options) {
  NEPTUNE_ASSIGN_OR_RETURN(const IndexTierVariant variant, FindVariant(implementation));
  // Removes the seal of an earlier build, which does not apply to the new one.
  std::error_code error;
  std::filesystem::remove(neptune::StrCat(options.directory, "/", kTierSealName), error);
  if (error) return neptune::Unavailable("build ", options.directory, ": ", error.message());
  return variant.create_builder(options);
}

neptune::Status FinishTierCollection(std::string_view implementation,
                                     const std::vector<std::string>& directories,
                                     const TierCollectionOptions& options) {
  NEPTUNE_ASSIGN_OR_RETURN(const IndexTierVariant variant, FindVariant(implementation));
  NEPTUNE_RETURN_IF_ERROR(variant.finish_collection(directories, options));
  const std::string description =
      neptune::StrCat(kFirstWords, implementation, " ", options.index_version);
  for (const std::string& directory : directories) {
    NEPTUNE_RETURN_IF_ERROR(
        neptune::SealDirectory(directory, kTierSealName, description, variant.seal_extent));
  }
  return neptune::OkStatus();
}

neptune::StatusOr<std::unique_ptr<IndexTier>> OpenIndexTier(std::string_view implementation,
                                                            const std::string& directory) {
  NEPTUNE_ASSIGN_OR_RETURN(const IndexTierVariant variant, FindVariant(implementation));
  NEPTUNE_ASSIGN_OR_RETURN(const TierFolder seal, ReadTierFolder(directory));
  if (seal.implementation != implementation) {
    return neptune::FailedPrecondition("open index tier ", directory, " as '", implementation,
                                       "': it was built for '", seal.implementation, "'");
  }
  return variant.open(directory, seal.index_version);
}

neptune::StatusOr<std::string> DetectIndexTier(const std::string& directory) {
  NEPTUNE_ASSIGN_OR_RETURN(TierFolder seal, ReadTierFolder(directory));
  return std::move(seal.implementation);
}

}  // namespace search::index
