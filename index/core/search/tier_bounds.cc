#include "index/core/search/tier_bounds.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "index/core/search/collection_statistics.h"
#include "index/core/search/merge_queue.h"
#include "index/core/segment/format.h"
#include "index/core/segment/posting_cursor.h"

namespace search::index {
namespace {

// A segment with a cursor over its terms.
struct OpenSegment {
  std::unique_ptr<Segment> segment;
  std::unique_ptr<TermCursor> cursor;
  std::vector<WordBound> bounds;  // by term ordinal; only of tier 1
};

neptune::StatusOr<OpenSegment> OpenTerms(const std::string& directory) {
  OpenSegment open;
  NEPTUNE_ASSIGN_OR_RETURN(open.segment, Segment::Open(directory));
  open.cursor = std::make_unique<TermCursor>(open.segment->terms());
  return open;
}

uint16_t TitleShare(uint32_t frequency, uint32_t length_codes) {
  const float length = DecodeLength(static_cast<uint8_t>(length_codes));
  if (frequency == 0 || !(length > 0)) return 0;
  const float share = std::ceil(static_cast<float>(frequency) / length * 65536);
  return static_cast<uint16_t>(std::min(share, 65535.0F));
}

// Raises *bound to what the postings of the term reach.
neptune::Status Raise(const Segment& segment, const TermEntry& entry, const Scorer& scorer,
                      WordBound* bound) {
  PostingCursor cursor(segment.postings(), entry, segment.document_count());
  while (cursor.Next() != kNoDocument) {
    const std::array<uint32_t, kFieldCount> frequencies = {cursor.frequency(Field::kTitle),
                                                           cursor.frequency(Field::kBody),
                                                           cursor.frequency(Field::kExtra)};
    const uint32_t codes = segment.length_codes()[cursor.ordinal()];
    ++bound->document_count;
    bound->impact_max = std::max(bound->impact_max, scorer.ToImpact(frequencies, codes));
    bound->title_share_max = std::max(bound->title_share_max, TitleShare(frequencies[0], codes));
  }
  if (cursor.damaged()) return neptune::DataLoss(segment.name(), ": postings are damaged");
  return neptune::OkStatus();
}

// Merges the terms of both tiers. The first tier1_count segments are of tier 1.
class BoundsMerge {
 public:
  BoundsMerge(std::vector<OpenSegment> segments, size_t tier1_count, const Scorer& scorer)
      : segments_(std::move(segments)), tier1_count_(tier1_count), scorer_(scorer) {}

  neptune::Status Run() {
    MergeQueue queue([this](size_t i) { return segments_[i].cursor->key(); });
    const auto advance = [&](size_t i) {
      if (segments_[i].cursor->Next()) queue.Push(i);
      return neptune::Annotate(segments_[i].cursor->status(), segments_[i].segment->name());
    };
    for (size_t i = 0; i < segments_.size(); ++i) NEPTUNE_RETURN_IF_ERROR(advance(i));
    std::vector<size_t> holders;
    while (!queue.empty()) {
      holders.clear();
      do {
        holders.push_back(queue.Pop());
      } while (!queue.empty() &&
               segments_[queue.top()].cursor->key() == segments_[holders[0]].cursor->key());
      NEPTUNE_RETURN_IF_ERROR(BoundTerm(holders));
      for (const size_t i : holders) NEPTUNE_RETURN_IF_ERROR(advance(i));
    }
    return neptune::OkStatus();
  }

  neptune::Status Write(size_t i, const std::string& directory) const {
    const std::string path = neptune::StrCat(directory, "/", kTierBoundsFileName);
    NEPTUNE_ASSIGN_OR_RETURN(auto file, SectionFileWriter::Create(path, kTierBoundsKind));
    TierBoundsTotals totals = {.segment_fingerprint = segments_[i].segment->fingerprint()};
    for (size_t other = tier1_count_; other < segments_.size(); ++other) {
      totals.document_count += segments_[other].segment->document_count();
      totals.static_rank_max =
          std::max(totals.static_rank_max, segments_[other].segment->totals().static_rank_max);
    }
    file->BeginSection(kTierBoundsTotalsSection);
    file->AppendArray(std::span<const TierBoundsTotals>(&totals, 1));
    file->BeginSection(kWordBoundsSection);
    file->AppendArray(std::span<const WordBound>(segments_[i].bounds));
    return file->Finish().status();
  }

 private:
  // `holders` stand at the same term.
  neptune::Status BoundTerm(const std::vector<size_t>& holders) {
    const auto is_in_tier1 = [this](size_t i) { return i < tier1_count_; };
    if (std::none_of(holders.begin(), holders.end(), is_in_tier1)) return neptune::OkStatus();
    WordBound bound;
    for (const size_t i : holders) {
      if (is_in_tier1(i)) continue;
      NEPTUNE_RETURN_IF_ERROR(
          Raise(*segments_[i].segment, segments_[i].cursor->entry(), scorer_, &bound));
    }
    for (const size_t i : holders) {
      if (is_in_tier1(i)) segments_[i].bounds.push_back(bound);
    }
    return neptune::OkStatus();
  }

  std::vector<OpenSegment> segments_;
  const size_t tier1_count_;
  const Scorer& scorer_;
};

}  // namespace

neptune::StatusOr<std::unique_ptr<TierBounds>> TierBounds::Open(const std::string& directory,
                                                                const Segment& segment,
                                                                const OpenOptions& options) {
  const std::string path = neptune::StrCat(directory, "/", kTierBoundsFileName);
  NEPTUNE_ASSIGN_OR_RETURN(auto file, SectionFile::Open(path, kTierBoundsKind, options));
  return FromFile(std::move(file), segment);
}

neptune::StatusOr<std::unique_ptr<TierBounds>> TierBounds::FromFile(
    std::unique_ptr<SectionFile> file, const Segment& segment) {
  std::unique_ptr<TierBounds> bounds(new TierBounds);
  NEPTUNE_ASSIGN_OR_RETURN(const auto totals,
                           file->Array<TierBoundsTotals>(kTierBoundsTotalsSection));
  if (totals.size() != 1) return file->Damaged("totals");
  if (totals[0].segment_fingerprint != segment.fingerprint()) {
    return file->Damaged("made for another segment than ", segment.name());
  }
  NEPTUNE_ASSIGN_OR_RETURN(bounds->words_, file->Array<WordBound>(kWordBoundsSection));
  if (bounds->words_.size() != segment.terms().term_count()) {
    return file->Damaged("bounds do not fit the segment");
  }
  bounds->document_count_ = totals[0].document_count;
  bounds->static_rank_max_ = totals[0].static_rank_max;
  bounds->file_ = std::move(file);
  return bounds;
}

neptune::Status WriteTierBounds(const std::vector<std::string>& tier1,
                                const std::vector<std::string>& tier2) {
  std::vector<OpenSegment> segments;
  for (const std::vector<std::string>* tier : {&tier1, &tier2}) {
    for (const std::string& directory : *tier) {
      NEPTUNE_ASSIGN_OR_RETURN(segments.emplace_back(), OpenTerms(directory));
    }
  }
  if (segments.empty()) return neptune::OkStatus();
  NEPTUNE_ASSIGN_OR_RETURN(const auto statistics,
                           CollectionStatistics::Open(tier1.empty() ? tier2[0] : tier1[0],
                                                      *segments[0].segment, OpenOptions()));
  const Scorer scorer(statistics->mean_lengths(), statistics->ranking());
  BoundsMerge merge(std::move(segments), tier1.size(), scorer);
  NEPTUNE_RETURN_IF_ERROR(merge.Run());
  for (size_t i = 0; i < tier1.size(); ++i) NEPTUNE_RETURN_IF_ERROR(merge.Write(i, tier1[i]));
  return neptune::OkStatus();
}

}  // namespace search::index
