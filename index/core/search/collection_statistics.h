// Statistics of the whole collection by which one segment is ranked: the memory-mapped file
// `statistics`, written by ComputeGlobalStatistics.
//
// Format: index/core/segment/format.md.
// Maps a file read-only.
// Threads: immutable.
// Errors: NOT_FOUND if there is no such file, DATA_LOSS if it is damaged or belongs to another
//   segment.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "index/core/document.h"
#include "index/core/search/ranking.h"
#include "index/core/segment/section_file.h"
#include "index/core/segment/segment_reader.h"
#include "neptune/base/status.h"

namespace search::index {

class CollectionStatistics {
 public:
  // Maps `directory`/statistics, which must have been computed for `segment`.
  static neptune::StatusOr<std::unique_ptr<CollectionStatistics>> Open(const std::string& directory,
                                                                       const Segment& segment,
                                                                       const OpenOptions& options);

  // Reads from a container that is already open.
  static neptune::StatusOr<std::unique_ptr<CollectionStatistics>> FromFile(
      std::unique_ptr<SectionFile> file, const Segment& segment);

  // Builds statistics from numbers in memory. `document_frequencies` holds the collection's counts
  // by the segment's term ordinal; 0 for a word that is newer than the numbers.
  static std::unique_ptr<CollectionStatistics> FromNumbers(
      uint64_t document_count, const std::array<uint64_t, kFieldCount>& length_sums,
      std::vector<uint32_t> document_frequencies, const RankingOptions& ranking);

  uint64_t document_count() const { return document_count_; }
  // Total number of words over all documents, by Field.
  const std::array<uint64_t, kFieldCount>& length_sums() const { return length_sums_; }
  // Mean number of words over all documents, by Field; 1 if the field is empty in every document.
  const std::array<float, kFieldCount>& mean_lengths() const { return mean_lengths_; }
  // The ranking options for which the collection was built.
  const RankingOptions& ranking() const { return ranking_; }

  // Document frequencies in the collection, by the segment's term ordinal.
  std::span<const uint32_t> document_frequencies() const { return document_frequencies_; }

  // Null: the numbers are not those of a file.
  const SectionFile* file() const { return file_.get(); }
  // See SectionFile; OK if the numbers are not those of a file.
  neptune::Status CheckSound() const {
    return file_ == nullptr ? neptune::OkStatus() : file_->CheckSound();
  }

 private:
  CollectionStatistics() = default;
  neptune::Status Load(const Segment& segment);

  std::unique_ptr<SectionFile> file_;
  std::vector<uint32_t> own_frequencies_;  // used if there is no file
  uint64_t document_count_ = 0;
  std::array<uint64_t, kFieldCount> length_sums_ = {};
  std::array<float, kFieldCount> mean_lengths_ = {};
  RankingOptions ranking_;
  std::span<const uint32_t> document_frequencies_;
};

// Computes CollectionStatistics::mean_lengths.
std::array<float, kFieldCount> MeanLengths(uint64_t document_count,
                                           const std::array<uint64_t, kFieldCount>& length_sums);

}  // namespace search::index
