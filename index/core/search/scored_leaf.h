// A posting list and its contribution to scores.
//
// Threads: thread-compatible; lives for one search.

#pragma once

#include <cstdint>

#include "index/core/search/evaluation.h"
#include "index/core/search/query_plan.h"

namespace search::index {

class ScoredLeaf {
 public:
  // `scoring`: the plan's equal scoring leaf; nullptr: the leaf only matches and adds nothing.
  ScoredLeaf(const PlanLeaf& leaf, const PlanLeaf* scoring, Evaluation* evaluation)
      : space_(&evaluation->space()),
        cursor_(evaluation->OpenCursor(leaf.entry)),
        bitmap_(space_->impacts.FindDocuments(leaf.entry)),
        title_only_(leaf.title_only),
        weight_(scoring == nullptr
                    ? TermWeight()
                    : space_->Weight(leaf.entry, scoring->occurrences, scoring->percent)),
        units_max_(weight_.Units(space_->TermBound(leaf.entry))) {}

  PostingCursor& cursor() const { return *cursor_; }
  bool title_only() const { return title_only_; }
  const TermWeight& weight() const { return weight_; }
  ScoreUnits units_max() const { return units_max_; }

  // Bitmap of the documents in the posting list; nullptr if the term is rare.
  const uint64_t* bitmap() const { return bitmap_; }
  // Moves to the document's posting. Returns true if there is a matching one.
  bool Reach(uint32_t ordinal) const {
    if (bitmap_ != nullptr && !HoldsDocument(bitmap_, ordinal)) return false;
    return cursor_->Seek(ordinal) == ordinal && IsMatch();
  }

  // Largest units of a posting in the block.
  ScoreUnits BlockUnits(uint32_t block) const {
    return weight_.Units(space_->BlockBound(cursor_->entry(), block));
  }

  // True if the cursor's posting is in the right field.
  bool IsMatch() const { return !title_only_ || cursor_->frequency(Field::kTitle) > 0; }
  ScoreUnits Units() const {
    const uint32_t codes = space_->segment.length_codes()[cursor_->ordinal()];
    std::array<uint32_t, kFieldCount> frequencies = {cursor_->frequency(Field::kTitle), 0, 0};
    if (!title_only_) {
      frequencies[1] = cursor_->frequency(Field::kBody);
      frequencies[2] = cursor_->frequency(Field::kExtra);
    }
    return weight_.Units(space_->scorer.ToImpact(frequencies, codes));
  }

 private:
  const SearchSpace* space_;
  PostingCursor* cursor_;
  const uint64_t* bitmap_;
  bool title_only_;
  TermWeight weight_;
  ScoreUnits units_max_;
};

}  // namespace search::index
