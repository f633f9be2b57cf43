#include "index/core/search/collection_statistics.h"

#include <utility>

#include "index/core/segment/format.h"

namespace search::index {

neptune::StatusOr<std::unique_ptr<CollectionStatistics>> CollectionStatistics::Open(
    const std::string& directory, const Segment& segment, const OpenOptions& options) {
  const std::string path = neptune::StrCat(directory, "/", kStatisticsFileName);
  NEPTUNE_ASSIGN_OR_RETURN(auto file, SectionFile::Open(path, kStatisticsKind, options));
  return FromFile(std::move(file), segment);
}

neptune::StatusOr<std::unique_ptr<CollectionStatistics>> CollectionStatistics::FromFile(
    std::unique_ptr<SectionFile> file, const Segment& segment) {
  std::unique_ptr<CollectionStatistics> statistics(new CollectionStatistics);
  statistics->file_ = std::move(file);
  NEPTUNE_RETURN_IF_ERROR(statistics->Load(segment));
  return statistics;
}

std::unique_ptr<CollectionStatistics> CollectionStatistics::FromNumbers(
    uint64_t document_count, const std::array<uint64_t, kFieldCount>& length_sums,
    std::vector<uint32_t> document_frequencies, const RankingOptions& ranking) {
  std::unique_ptr<CollectionStatistics> statistics(new CollectionStatistics);
  statistics->document_count_ = document_count;
  statistics->length_sums_ = length_sums;
  statistics->mean_lengths_ = MeanLengths(document_count, length_sums);
  statistics->ranking_ = ranking;
  statistics->own_frequencies_ = std::move(document_frequencies);
  statistics->document_frequencies_ = statistics->own_frequencies_;
  return statistics;
}

neptune::Status CollectionStatistics::Load(const Segment& segment) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto totals,
                           file_->Array<StatisticsTotals>(kStatisticsTotalsSection));
  if (totals.size() != 1) return file_->Damaged("totals");
  if (totals[0].segment_fingerprint != segment.fingerprint()) {
    return file_->Damaged("made for another segment than ", segment.name());
  }
  document_count_ = totals[0].document_count;
  for (size_t field = 0; field < kFieldCount; ++field) {
    length_sums_[field] = totals[0].length_sums[field];
  }
  mean_lengths_ = MeanLengths(document_count_, length_sums_);
  ranking_.k1 = totals[0].k1;
  ranking_.static_rank_weight = totals[0].static_rank_weight;
  for (size_t field = 0; field < kFieldCount; ++field) {
    ranking_.fields[field] = {.weight = totals[0].weights[field], .b = totals[0].bs[field]};
  }
  NEPTUNE_ASSIGN_OR_RETURN(document_frequencies_,
                           file_->Array<uint32_t>(kDocumentFrequenciesSection));
  if (document_frequencies_.size() != segment.terms().term_count() ||
      document_count_ < segment.document_count()) {
    return file_->Damaged("arrays do not fit the segment");
  }
  return neptune::OkStatus();
}

std::array<float, kFieldCount> MeanLengths(uint64_t document_count,
                                           const std::array<uint64_t, kFieldCount>& length_sums) {
  std::array<float, kFieldCount> means;
  for (size_t field = 0; field < kFieldCount; ++field) {
    const auto sum = static_cast<double>(length_sums[field]);
    means[field] = length_sums[field] == 0 || document_count == 0
                       ? 1
                       : static_cast<float>(sum / static_cast<double>(document_count));
  }
  return means;
}

}  // namespace search::index
