#include "index/core/search/word_list.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <vector>

#include "index/core/search/block_kernels.h"

namespace search::index {

WordList::WordList(const PlanLeaf& leaf, uint32_t occurrences, Evaluation* evaluation)
    : entry_(leaf.entry),
      scores_(occurrences > 0),
      weight_(scores_ ? evaluation->space().Weight(leaf.entry, occurrences, leaf.percent)
                      : TermWeight()),
      list_(evaluation->space().impacts.Find(leaf.entry)),
      dense_(list_ != nullptr && list_->is_dense() ? list_ : nullptr),
      evaluation_(evaluation) {
  if (list_ == nullptr) {
    Decode();
  } else if (scores_) {
    units_max_ = weight_.Units(list_->impact_max);
  }
}

void WordList::Decode() {
  if (ordinals_ != nullptr) return;
  PostingCursor* const cursor = evaluation_->OpenCursor(entry_);
  const uint32_t block_count = IsLost() ? 0 : cursor->block_count();
  if (IsLost()) evaluation_->NoteDamage();
  const size_t room = size_t{block_count} * kPostingBlockSize + kKernelRoom;
  ordinals_ = std::make_unique_for_overwrite<uint32_t[]>(room);
  if (scores_) units_ = std::make_unique_for_overwrite<ScoreUnits[]>(room);
  for (uint32_t block = 0; block < block_count && cursor->LoadBlock(block); ++block) {
    const auto ordinals = cursor->block_ordinals();
    std::memcpy(&ordinals_[count_], ordinals.data(), ordinals.size_bytes());
    count_ += static_cast<uint32_t>(ordinals.size());
    if (evaluation_->ShouldStop(static_cast<uint32_t>(ordinals.size()))) break;
  }
  if (cursor->damaged()) count_ = 0;
  std::fill_n(&ordinals_[count_], kKernelRoom, UINT32_MAX);
  if (scores_ && list_ != nullptr) {
    Kernels().to_units(list_->impacts, count_, weight_, units_.get());
  } else if (scores_) {
    ScoreOnce(cursor);
  }
}

// Scores a list of a single block, which the cursor holds, or an empty one.
void WordList::ScoreOnce(PostingCursor* cursor) {
  if (count_ == 0) return;
  const SearchSpace& space = evaluation_->space();
  std::array<float, kPostingBlockSize> sums = {};
  for (size_t f = 0; f < kFieldCount; ++f) {
    const auto field = static_cast<Field>(f);
    const auto frequencies = cursor->block_frequencies(field);
    for (size_t i = 0; i < frequencies.size(); ++i) {
      sums[i] += static_cast<float>(frequencies[i]) *
                 space.scorer.Norm(field, space.segment.length_codes()[ordinals_[i]]);
    }
  }
  for (uint32_t i = 0; i < count_; ++i) {
    units_[i] = weight_.Units(space.scorer.ToImpact(sums[i]));
    units_max_ = std::max(units_max_, units_[i]);
  }
}

uint32_t WordList::FindForward(uint32_t from, uint32_t ordinal) const {
  if (from >= count_ || ordinals_[from] >= ordinal) return from;
  uint32_t step = 1;
  while (from + step < count_ && ordinals_[from + step] < ordinal) {
    from += step;
    step *= 2;
  }
  const uint32_t* const all = ordinals_.get();
  const uint32_t* const to = all + std::min(count_, from + step);
  return static_cast<uint32_t>(std::lower_bound(all + from, to, ordinal) - all);
}

WordList::Range WordList::InBlock(uint32_t block) {
  const uint32_t begin = block * kDocumentBlockSize;
  next_ = FindForward(next_, begin);
  uint32_t end = next_;
  while (end < count_ && ordinals_[end] - begin < kDocumentBlockSize) ++end;
  return {next_, end};
}

std::optional<ScoreUnits> WordList::Seek(uint32_t ordinal) {
  if (cursor_ == nullptr) cursor_ = evaluation_->OpenCursor(entry_);
  evaluation_->ShouldStop(kDocumentBlockSize);
  if (cursor_->Seek(ordinal) != ordinal) return std::nullopt;
  return scores_ ? weight_.Units(list_->impacts[cursor_->posting()]) : 0;
}

uint32_t WordList::PostingOf(uint32_t ordinal) {
  if (!is_dense()) {
    Decode();
    const bool is_behind = next_ < count_ && ordinals_[next_] <= ordinal;
    return next_ = FindForward(is_behind ? next_ : 0, ordinal);
  }
  const uint32_t block = ordinal / kDocumentBlockSize;
  const uint64_t below = (uint64_t{1} << (ordinal % kDocumentBlockSize)) - 1;
  return dense_->firsts[block] +
         static_cast<uint32_t>(std::popcount(dense_->documents[block] & below));
}

std::optional<uint32_t> WordList::FindPosting(uint32_t ordinal) {
  if (is_dense()) {
    if (!HoldsDocument(dense_->documents, ordinal)) return std::nullopt;
    return PostingOf(ordinal);
  }
  const uint32_t posting = PostingOf(ordinal);
  const bool holds = posting < count_ && ordinals_[posting] == ordinal;
  return holds ? std::optional<uint32_t>(posting) : std::nullopt;
}

ScoreUnits WordList::BestUnits(size_t count) const {
  if (!scores_) return 0;
  if (list_ == nullptr) {  // already decoded
    if (count > count_) return 0;
    std::vector<ScoreUnits> units(&units_[0], &units_[0] + count_);
    const auto nth = units.begin() + static_cast<ptrdiff_t>(count) - 1;
    std::nth_element(units.begin(), nth, units.end(), std::greater<>());
    return *nth;
  }
  for (size_t i = 0; i < kBestCounts.size(); ++i) {
    if (count <= kBestCounts[i]) return weight_.Units(list_->best[i]);
  }
  return 0;
}

}  // namespace search::index
