// A segment of a partition with the data that searching it needs, and its directory, which is
// removed when no partition contains the segment any more and its last reader is destroyed.
//
// Maps files, removes directories.
// Threads: immutable except SetObsolete, which any thread may call.
// Errors: those of opening a segment; UNAVAILABLE.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "index/core/partition/collection_counts.h"
#include "index/core/search/collection_statistics.h"
#include "index/core/search/ranking.h"
#include "index/core/search/searcher.h"
#include "index/core/segment/live_documents.h"
#include "index/core/segment/segment_reader.h"
#include "neptune/base/status.h"

namespace search::index {

// Owns the segment's files.
class SegmentFolder {
 public:
  static neptune::StatusOr<std::shared_ptr<SegmentFolder>> Open(const std::string& directory,
                                                                uint64_t number);
  // Opens a folder published by another owner; it is not removed.
  static neptune::StatusOr<std::shared_ptr<SegmentFolder>> Borrow(const std::string& directory);
  ~SegmentFolder();
  SegmentFolder(const SegmentFolder&) = delete;
  SegmentFolder& operator=(const SegmentFolder&) = delete;

  static std::string PathOf(const std::string& partition_directory, uint64_t number);

  const Segment& segment() const { return *segment_; }
  const std::string& directory() const { return directory_; }
  uint64_t number() const { return number_; }
  // If true, the last reader removes the folder; no effect on a borrowed one.
  void SetObsolete(bool obsolete) { obsolete_ = obsolete && number_ != kBorrowedNumber; }

 private:
  static constexpr uint64_t kBorrowedNumber = 0;  // a partition numbers its segments from 1

  SegmentFolder(std::string directory, uint64_t number, std::unique_ptr<Segment> segment)
      : directory_(std::move(directory)), number_(number), segment_(std::move(segment)) {}

  const std::string directory_;
  const uint64_t number_;
  std::unique_ptr<Segment> segment_;
  std::atomic<bool> obsolete_ = false;
};

// Opens the segment under the given counts of the collection. Without counts, behaves as for a
// collection without documents: all words weigh the same.
class SearchableSegment {
 public:
  static neptune::StatusOr<std::shared_ptr<const SearchableSegment>> Create(
      std::shared_ptr<SegmentFolder> folder, const CollectionCounts* counts,
      const RankingOptions& ranking);

  const std::shared_ptr<SegmentFolder>& folder() const { return folder_; }
  const Segment& segment() const { return folder_->segment(); }
  const Searcher& searcher() const { return *searcher_; }

 private:
  SearchableSegment() = default;

  std::shared_ptr<SegmentFolder> folder_;
  std::unique_ptr<CollectionStatistics> statistics_;
  std::unique_ptr<Searcher> searcher_;
};

}  // namespace search::index
