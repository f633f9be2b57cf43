// The state of one search: the segment, its statistics, the cursors opened, and the stop condition.
//
// Threads: SearchSpace is immutable, Evaluation thread-compatible and lives for one search.

#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <vector>

#include "index/core/search/collection_statistics.h"
#include "index/core/search/impact_table.h"
#include "index/core/search/score.h"
#include "index/core/segment/live_documents.h"
#include "index/core/segment/position_reader.h"
#include "index/core/segment/posting_cursor.h"
#include "index/core/segment/segment_reader.h"

namespace search::index {

struct SearchSpace {
  SearchSpace(const Segment& segment_in, const CollectionStatistics& statistics_in,
              const RankingOptions& options)
      : segment(segment_in),
        statistics(statistics_in),
        scorer(statistics_in.mean_lengths(), options),
        impacts(segment_in, scorer),
        static_rank_units_max(scorer.StaticRankUnits(segment_in.totals().static_rank_max)) {
    if (static_rank_units_max == 0) return;
    static_rank_maxima.assign(impacts.block_count(), 0);
    for (uint32_t ordinal = 0; ordinal < segment.document_count(); ++ordinal) {
      ScoreUnits& maximum = static_rank_maxima[ordinal / kDocumentBlockSize];
      maximum = std::max(maximum, StaticRankUnits(ordinal));
    }
  }

  const Segment& segment;
  const CollectionStatistics& statistics;
  const Scorer scorer;
  const ImpactTable impacts;
  const ScoreUnits static_rank_units_max;
  // Maximal units by document block; empty if all ranks are 0.
  std::vector<ScoreUnits> static_rank_maxima;

  TermWeight Weight(const TermEntry& entry, uint32_t occurrences, uint32_t percent) const {
    return {statistics.document_count(), statistics.document_frequencies()[entry.ordinal],
            occurrences, percent};
  }
  // Bounds of the impacts in the whole list, and in its posting block b.
  Impact TermBound(const TermEntry& entry) const {
    const ImpactList* list = impacts.Find(entry);
    return list == nullptr ? kImpactMax : list->impact_max;
  }
  Impact BlockBound(const TermEntry& entry, uint32_t block) const {
    if (impacts.Find(entry) == nullptr) return kImpactMax;
    return FromImpactBound(impacts.PostingBlockBound(entry, block));
  }
  // At most static_rank_units_max, on which bounds are built, even if the rank was damaged. If all
  // ranks are 0, skips the array of ranks, which costs a cache miss per document.
  ScoreUnits StaticRankUnits(uint32_t ordinal) const {
    if (static_rank_units_max == 0) return 0;
    return std::min(static_rank_units_max, scorer.StaticRankUnits(segment.static_ranks()[ordinal]));
  }
};

// Prefetches what scoring the document reads.
inline void PrefetchDocument(const SearchSpace& space, uint32_t ordinal) {
  __builtin_prefetch(&space.segment.length_codes()[ordinal]);
  if (space.static_rank_units_max > 0) __builtin_prefetch(&space.segment.static_ranks()[ordinal]);
}

class Evaluation {
 public:
  // Work between two polls of `stop`, in postings, approximately.
  static constexpr uint32_t kPollInterval = 4096;

  // `live`: the documents that may match, or nullptr for all.
  Evaluation(const SearchSpace& space, const LiveDocuments* live, const std::function<bool()>& stop)
      : space_(space), live_(live), stop_(stop) {}
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  const SearchSpace& space() const { return space_; }
  uint32_t document_count() const { return space_.segment.document_count(); }
  // Bitmap of the documents that may match, as long as those of SearchSpace; nullptr: all.
  const uint64_t* live_words() const { return live_ == nullptr ? nullptr : live_->words().data(); }

  // The cursor lives as long as this object.
  PostingCursor* OpenCursor(const TermEntry& entry) {
    return &cursors_.emplace_back(space_.segment.postings(), entry, document_count());
  }

  PositionReader* OpenPositions(const TermEntry& entry) {
    return &position_readers_.emplace_back(space_.segment.postings(), entry);
  }

  // Adds to the work done. Returns true once the search must end, and ever after.
  bool ShouldStop(uint32_t work) {
    work_ += work;
    if (work_ >= kPollInterval) {
      work_ = 0;
      stopped_ = stopped_ || (stop_ && stop_());
    }
    return stopped_;
  }
  bool stopped() const { return stopped_; }

  // Notes damage that neither a cursor nor a reader of positions has met.
  void NoteDamage() { damage_noted_ = true; }
  bool damaged() const {
    if (damage_noted_) return true;
    for (const PostingCursor& cursor : cursors_) {
      if (cursor.damaged()) return true;
    }
    for (const PositionReader& reader : position_readers_) {
      if (reader.damaged()) return true;
    }
    return false;
  }

 private:
  const SearchSpace& space_;
  const LiveDocuments* live_;
  const std::function<bool()>& stop_;
  std::deque<PostingCursor> cursors_;
  std::deque<PositionReader> position_readers_;
  uint32_t work_ = 0;
  bool stopped_ = false;
  bool damage_noted_ = false;
};

}  // namespace search::index
