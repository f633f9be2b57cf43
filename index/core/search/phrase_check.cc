#include "index/core/search/phrase_check.h"

#include <utility>

namespace search::index {

PhraseCheck::PhraseCheck(std::vector<PostingCursor*> cursors, std::vector<uint32_t> positions,
                         bool title_only)
    : cursors_(std::move(cursors)), positions_(std::move(positions)), title_only_(title_only) {}

bool PhraseCheck::Matches() {
  if (MatchesIn(Field::kTitle)) return true;
  return !title_only_ && (MatchesIn(Field::kBody) || MatchesIn(Field::kExtra));
}

bool PhraseCheck::MatchesIn(Field field) {
  for (PostingCursor* cursor : cursors_) {
    if (cursor->frequency(field) == 0) return false;
  }
  cursors_[0]->DecodePositions(field, &word_positions_);
  starts_.clear();
  for (const uint32_t position : word_positions_) {
    if (position >= positions_[0]) starts_.push_back(position - positions_[0]);
  }
  for (size_t word = 1; word < cursors_.size() && !starts_.empty(); ++word) Intersect(word, field);
  return !starts_.empty();
}

void PhraseCheck::Intersect(size_t word, Field field) {
  cursors_[word]->DecodePositions(field, &word_positions_);
  size_t kept = 0;
  size_t at = 0;
  for (const uint32_t start : starts_) {
    const uint64_t wanted = uint64_t{start} + positions_[word];
    while (at < word_positions_.size() && word_positions_[at] < wanted) ++at;
    if (at == word_positions_.size()) break;
    if (word_positions_[at] == wanted) starts_[kept++] = start;
  }
  starts_.resize(kept);
}

}  // namespace search::index
