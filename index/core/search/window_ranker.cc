#include "index/core/search/window_ranker.h"

#include <algorithm>
#include <bit>

namespace search::index {

WindowRanker::WindowRanker(std::vector<ScoredLeaf> leaves,
                           std::vector<std::unique_ptr<Matcher>> excluded, Evaluation* evaluation,
                           TopKQueue* queue)
    : space_(evaluation->space()),
      evaluation_(evaluation),
      queue_(queue),
      excluded_(std::move(excluded)) {
  for (ScoredLeaf& leaf : leaves) clauses_.push_back({.leaf = leaf});
}

RankingOutcome WindowRanker::Run() {
  const uint32_t document_count = evaluation_->document_count();
  for (begin_ = 0; begin_ < document_count; begin_ = end_) {
    end_ = std::min(document_count, begin_ + kWindowSize);
    if (evaluation_->ShouldStop(16 + static_cast<uint32_t>(clauses_.size()))) break;
    for (Clause& clause : clauses_) BoundClause(&clause);
    const size_t looked_up = SplitClauses();
    if (looked_up > 0) outcome_.pruned = true;
    if (looked_up == clauses_.size()) continue;
    for (size_t i = looked_up; i < clauses_.size(); ++i) {
      if (clauses_[i].present) Accumulate(clauses_[i]);
    }
    Collect(looked_up);
  }
  return outcome_;
}

void WindowRanker::BoundClause(Clause* clause) const {
  const PostingCursor& cursor = clause->leaf.cursor();
  clause->present = false;
  clause->bound = 0;
  if (cursor.started() && cursor.ordinal() >= end_) return;
  uint32_t block = cursor.FindBlock(begin_, clause->block);
  clause->block = block;
  if (block >= cursor.block_count()) return;
  clause->present = true;
  float bound = space_.BlockBound(cursor.entry(), block);
  while (cursor.block_last(block) < end_ - 1 && ++block < cursor.block_count()) {
    bound = std::max(bound, space_.BlockBound(cursor.entry(), block));
  }
  clause->bound = clause->leaf.weight().BoundUnits(bound);
}

size_t WindowRanker::SplitClauses() {
  std::sort(clauses_.begin(), clauses_.end(),
            [](const Clause& a, const Clause& b) { return a.bound < b.bound; });
  uint64_t sum = space_.static_rank_units_max;
  size_t looked_up = 0;
  for (Clause& clause : clauses_) {
    sum += clause.bound;
    clause.bound_sum = sum - space_.static_rank_units_max;
    if (!queue_->CanEnter(sum)) ++looked_up;
  }
  return looked_up;
}

void WindowRanker::Accumulate(const Clause& clause) {
  PostingCursor& cursor = clause.leaf.cursor();
  cursor.Seek(begin_);
  while (cursor.ordinal() < end_) {
    const std::span<const uint32_t> ordinals = cursor.block_ordinals();
    const uint32_t begin = cursor.index();
    uint32_t end = static_cast<uint32_t>(ordinals.size());
    if (ordinals[end - 1] >= end_) {
      end = static_cast<uint32_t>(std::lower_bound(ordinals.begin() + begin, ordinals.end(), end_) -
                                  ordinals.begin());
    }
    AccumulateBlock(clause, ordinals, begin, end);
    evaluation_->ShouldStop(end - begin);
    cursor.MoveTo(end);
  }
}

void WindowRanker::AccumulateBlock(const Clause& clause, std::span<const uint32_t> ordinals,
                                   uint32_t begin, uint32_t end) {
  PostingCursor& cursor = clause.leaf.cursor();
  const bool title_only = clause.leaf.title_only();
  const auto titles = cursor.block_frequencies(Field::kTitle);
  const auto bodies =
      title_only ? std::span<const uint32_t>() : cursor.block_frequencies(Field::kBody);
  const auto extras =
      title_only ? std::span<const uint32_t>() : cursor.block_frequencies(Field::kExtra);
  const TermWeight weight = clause.leaf.weight();
  for (uint32_t i = begin; i < end; ++i) {
    const std::array<uint32_t, kFieldCount> frequencies = {titles.empty() ? 0 : titles[i],
                                                           bodies.empty() ? 0 : bodies[i],
                                                           extras.empty() ? 0 : extras[i]};
    if (title_only && frequencies[0] == 0) continue;
    const uint32_t codes = space_.segment.length_codes()[ordinals[i]];
    const uint32_t at = ordinals[i] - begin_;
    units_[at] += weight.Units(space_.scorer.Saturation(frequencies, codes));
    matches_[at / 64] |= uint64_t{1} << (at % 64);
  }
}

// Forgets the deleted documents of the window.
void WindowRanker::KeepLive(const uint64_t* live) {
  for (size_t word = 0; word * 64 < end_ - begin_; ++word) {
    for (uint64_t dead = matches_[word] & ~live[word]; dead != 0; dead &= dead - 1) {
      units_[64 * word + std::countr_zero(dead)] = 0;
    }
    matches_[word] &= live[word];
  }
}

void WindowRanker::Collect(size_t looked_up) {
  if (evaluation_->live_words() != nullptr) KeepLive(evaluation_->live_words() + begin_ / 64);
  if (excluded_.empty()) outcome_.matched += CountBits(matches_.data(), matches_.size());
  for (size_t word = 0; word < matches_.size(); ++word) {
    uint64_t bits = matches_[word];
    if (bits == 0) continue;
    matches_[word] = 0;
    for (; bits != 0; bits &= bits - 1) {
      const auto at = static_cast<uint32_t>(64 * word) + std::countr_zero(bits);
      const uint64_t units = units_[at];
      units_[at] = 0;
      Consider(begin_ + at, units, looked_up);
    }
  }
}

void WindowRanker::Consider(uint32_t ordinal, uint64_t units, size_t looked_up) {
  const auto rest = [&](size_t count) {
    return count == 0 ? uint64_t{0} : clauses_[count - 1].bound_sum;
  };
  if (!queue_->CanEnter(units + rest(looked_up) + space_.static_rank_units_max)) {
    outcome_.pruned = true;
    return;
  }
  units += space_.StaticRankUnits(ordinal);
  for (size_t i = looked_up; i > 0; --i) {
    Clause& clause = clauses_[i - 1];
    if (!queue_->CanEnter(units + rest(i))) break;
    if (!clause.present) continue;
    if (clause.leaf.Reach(ordinal)) units += clause.leaf.Units();
  }
  if (!queue_->CanEnter(units)) {
    outcome_.pruned = true;
    return;
  }
  if (!excluded_.empty()) {
    if (IsExcluded(ordinal)) return;
    ++outcome_.matched;
  }
  queue_->Offer(ordinal, static_cast<ScoreUnits>(units));
}

bool WindowRanker::IsExcluded(uint32_t ordinal) {
  for (const auto& matcher : excluded_) {
    if (matcher->Seek(ordinal) == ordinal) return true;
  }
  return false;
}

}  // namespace search::index
