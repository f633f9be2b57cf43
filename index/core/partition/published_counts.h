// Counts of the collection that a published segment was finished with (ComputeGlobalStatistics).
// They know the words of that segment only: any other word counts as new.
//
// Maps a file.
// Threads: immutable.
// Errors: those of CollectionStatistics::Open.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "index/core/partition/collection_counts.h"
#include "index/core/partition/searchable_segment.h"
#include "index/core/search/collection_statistics.h"
#include "index/core/search/ranking.h"
#include "neptune/base/status.h"

namespace search::index {

class PublishedCounts : public CollectionCounts {
 public:
  // Reads the statistics in the segment's directory.
  static neptune::StatusOr<std::shared_ptr<const PublishedCounts>> Open(
      std::shared_ptr<SegmentFolder> folder);

  uint64_t document_count() const override { return statistics_->document_count(); }
  const std::array<uint64_t, kFieldCount>& length_sums() const override {
    return statistics_->length_sums();
  }
  neptune::StatusOr<uint32_t> DocumentFrequency(std::string_view key) const override;

  // The ranking options that the collection was finished with.
  const RankingOptions& ranking() const { return statistics_->ranking(); }

 private:
  PublishedCounts(std::shared_ptr<SegmentFolder> folder,
                  std::unique_ptr<CollectionStatistics> statistics)
      : folder_(std::move(folder)), statistics_(std::move(statistics)) {}

  const std::shared_ptr<SegmentFolder> folder_;
  const std::unique_ptr<CollectionStatistics> statistics_;
};

}  // namespace search::index
