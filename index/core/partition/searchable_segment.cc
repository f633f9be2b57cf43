#include "index/core/partition/searchable_segment.h"

#include <array>
#include <filesystem>
#include <utility>
#include <vector>

namespace search::index {

neptune::StatusOr<std::shared_ptr<SegmentFolder>> SegmentFolder::Open(const std::string& directory,
                                                                      uint64_t number) {
  NEPTUNE_ASSIGN_OR_RETURN(auto segment, Segment::Open(directory));
  return std::shared_ptr<SegmentFolder>(new SegmentFolder(directory, number, std::move(segment)));
}

neptune::StatusOr<std::shared_ptr<SegmentFolder>> SegmentFolder::Borrow(
    const std::string& directory) {
  return Open(directory, kBorrowedNumber);
}

SegmentFolder::~SegmentFolder() {
  segment_.reset();
  std::error_code ignored;  // files that remain are removed when the partition is opened again
  if (obsolete_) std::filesystem::remove_all(directory_, ignored);
}

std::string SegmentFolder::PathOf(const std::string& partition_directory, uint64_t number) {
  return neptune::StrCat(partition_directory, "/segment.", number);
}

neptune::StatusOr<std::shared_ptr<const SearchableSegment>> SearchableSegment::Create(
    std::shared_ptr<SegmentFolder> folder, const CollectionCounts* counts,
    const RankingOptions& ranking) {
  const Segment& segment = folder->segment();
  std::vector<uint32_t> frequencies;
  frequencies.reserve(segment.terms().term_count());
  TermCursor cursor(segment.terms());
  while (cursor.Next()) {
    uint32_t frequency = 0;
    if (counts != nullptr) {
      NEPTUNE_ASSIGN_OR_RETURN(frequency, counts->DocumentFrequency(cursor.key()));
    }
    frequencies.push_back(frequency);
  }
  NEPTUNE_RETURN_IF_ERROR(neptune::Annotate(cursor.status(), segment.name()));
  std::shared_ptr<SearchableSegment> searchable(new SearchableSegment);
  searchable->folder_ = std::move(folder);
  searchable->statistics_ = CollectionStatistics::FromNumbers(
      counts == nullptr ? 0 : counts->document_count(),
      counts == nullptr ? std::array<uint64_t, kFieldCount>{} : counts->length_sums(),
      std::move(frequencies), ranking);
  NEPTUNE_ASSIGN_OR_RETURN(searchable->searcher_,
                           Searcher::Create(segment, *searchable->statistics_, ranking));
  return std::shared_ptr<const SearchableSegment>(std::move(searchable));
}

}  // namespace search::index
