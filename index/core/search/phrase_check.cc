#include "index/core/search/phrase_check.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace search::index {

PhraseCheck::PhraseCheck(const std::vector<PlanLeaf>& leaves, std::vector<uint32_t> positions,
                         uint32_t distance, Evaluation* evaluation)
    : positions_(std::move(positions)),
      distance_(distance),
      title_only_(leaves[0].title_only),
      order_(leaves.size()) {
  for (const PlanLeaf& leaf : leaves) readers_.push_back(evaluation->OpenPositions(leaf.entry));
  std::iota(order_.begin(), order_.end(), 0);
}

bool PhraseCheck::Matches(std::span<const uint32_t> postings) {
  for (size_t word = 0; word < readers_.size(); ++word) {
    if (!readers_[word]->MoveTo(postings[word])) return false;
  }
  if (!title_only_ && MatchesIn(Field::kBody)) return true;
  return MatchesIn(Field::kTitle) || (!title_only_ && MatchesIn(Field::kExtra));
}

// Intersects the two rarest words first: they mostly decide alone.
bool PhraseCheck::MatchesIn(Field field) {
  for (const PositionReader* reader : readers_) {
    if (reader->frequency(field) == 0) return false;
  }
  if (distance_ > 0) return IsNearIn(field);
  for (size_t i = 0; i < std::min<size_t>(2, order_.size()); ++i) {
    size_t rarest = i;
    for (size_t j = i + 1; j < order_.size(); ++j) {
      if (readers_[order_[j]]->frequency(field) < readers_[order_[rarest]]->frequency(field)) {
        rarest = j;
      }
    }
    std::swap(order_[i], order_[rarest]);
  }
  starts_.clear();
  for (const uint32_t position : readers_[order_[0]]->Read(field)) {
    if (position >= positions_[order_[0]]) starts_.push_back(position - positions_[order_[0]]);
  }
  for (size_t i = 1; i < order_.size() && !starts_.empty(); ++i) {
    const auto positions = readers_[order_[i]]->Read(field);
    size_t kept = 0;
    size_t at = 0;
    for (const uint32_t start : starts_) {
      const uint64_t wanted = uint64_t{start} + positions_[order_[i]];
      while (at < positions.size() && positions[at] < wanted) ++at;
      if (at == positions.size()) break;
      if (positions[at] == wanted) starts_[kept++] = start;
    }
    starts_.resize(kept);
  }
  return !starts_.empty();
}

// Moves the hindmost word forward until all are within the distance, or it ends.
bool PhraseCheck::IsNearIn(Field field) {
  std::vector<std::span<const uint32_t>> words;
  for (PositionReader* reader : readers_) words.push_back(reader->Read(field));
  while (true) {
    uint32_t last = 0;
    std::span<const uint32_t>* hindmost = nullptr;
    for (std::span<const uint32_t>& word : words) {
      if (word.empty()) return false;
      last = std::max(last, word.front());
      if (hindmost == nullptr || word.front() < hindmost->front()) hindmost = &word;
    }
    if (last - hindmost->front() <= distance_) return true;
    *hindmost = hindmost->subspan(1);
  }
}

}  // namespace search::index
