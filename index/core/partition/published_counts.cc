#include "index/core/partition/published_counts.h"

#include <utility>

namespace search::index {

neptune::StatusOr<std::shared_ptr<const PublishedCounts>> PublishedCounts::Open(
    std::shared_ptr<SegmentFolder> folder) {
  NEPTUNE_ASSIGN_OR_RETURN(
      auto statistics,
      CollectionStatistics::Open(folder->directory(), folder->segment(), OpenOptions()));
  return std::shared_ptr<const PublishedCounts>(
      new PublishedCounts(std::move(folder), std::move(statistics)));
}

neptune::StatusOr<uint32_t> PublishedCounts::DocumentFrequency(std::string_view key) const {
  NEPTUNE_ASSIGN_OR_RETURN(const auto entry, folder_->segment().terms().Find(key));
  return entry.has_value() ? statistics_->document_frequencies()[entry->ordinal] : 0;
}

}  // namespace search::index
