#include "index/core/search/block_scorer.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "index/core/search/best_cut.h"

namespace search::index {
namespace {

// Prefetch distances, in blocks, for lists and for impacts.
constexpr size_t kListsAhead = 12;
constexpr size_t kImpactsAhead = 6;

// Returns the block's documents that are in any of the lists.
uint64_t DocumentsOf(QueryWords::Lists lists, uint32_t block) {
  uint64_t documents = 0;
  for (WordList* list : lists) {
    if (list->is_dense()) {
      documents |= list->dense().documents[block];
      continue;
    }
    const auto [begin, end] = list->InBlock(block);
    for (uint32_t i = begin; i < end; ++i) {
      documents |= uint64_t{1} << (list->ordinals()[i] % kDocumentBlockSize);
    }
  }
  return documents;
}

}  // namespace

BlockScorer::BlockScorer(QueryWords* words, Evaluation* evaluation, HitCollector* hits)
    : words_(words),
      evaluation_(evaluation),
      hits_(hits),
      space_(evaluation->space()),
      kernels_(Kernels()),
      live_(evaluation->live_words()),
      bounds_(words->scoring(), evaluation) {}

void BlockScorer::Run() {
  const std::vector<uint32_t> blocks = FindBlocks();
  if (blocks.empty()) return;
  const size_t k = hits_->queue().k();
  const size_t wanted = std::max(kBestFirstMin, (words_->required().empty() ? 2 : 1) * k);
  uint16_t cut = 0;
  if (blocks.size() > 2 * wanted && !hits_->checks_all()) {
    std::vector<uint16_t> bounds(blocks.size());
    for (size_t i = 0; i < blocks.size(); ++i) bounds[i] = bounds_[blocks[i]];
    cut = CutForBest<uint16_t>(bounds, bounds_.max(), wanted);
  }
  ScoreBlocks(blocks, true, cut);
  if (cut == 0) return;
  words_->Rewind();
  ScoreBlocks(blocks, false, cut);
}

// Returns the blocks that may hold a hit.
std::vector<uint32_t> BlockScorer::FindBlocks() {
  const uint16_t least = LeastBound();
  if (least > 0) hits_->NotePruned();
  if (!words_->required().empty()) masks_ = words_->IntersectRequired();
  return bounds_.Find(least, masks_);
}

// Scores the blocks bounded by at least the cut (`best`), or all the others.
void BlockScorer::ScoreBlocks(std::span<const uint32_t> blocks, bool best, uint16_t cut) {
  const uint16_t least = LeastBound();
  const auto chosen = std::make_unique_for_overwrite<uint32_t[]>(blocks.size());
  size_t count = 0;
  for (const uint32_t block : blocks) {
    chosen[count] = block;
    count += (bounds_[block] >= cut) == best && bounds_[block] >= least ? 1 : 0;
  }
  for (size_t i = 0; i < std::min(count, kListsAhead); ++i) PrefetchLists(chosen[i]);
  for (size_t i = 0; i < std::min(count, kImpactsAhead); ++i) PrefetchImpacts(chosen[i]);
  // Each list is looked at for each block, whether or not it has postings there.
  const uint32_t work = kDocumentBlockSize + static_cast<uint32_t>(words_->scoring().size());
  for (size_t i = 0; i < count; ++i) {
    if (i + kListsAhead < count) PrefetchLists(chosen[i + kListsAhead]);
    if (i + kImpactsAhead < count) PrefetchImpacts(chosen[i + kImpactsAhead]);
    if (bounds_[chosen[i]] >= LeastBound()) {
      ScoreBlock(chosen[i]);
    } else {
      hits_->NotePruned();
    }
    if (evaluation_->ShouldStop(work)) break;
  }
  if (!best && count < blocks.size()) hits_->NotePruned();
  hits_->CheckPending();
}

void BlockScorer::PrefetchLists(uint32_t block) const {
  for (const WordList* list : words_->scoring()) {
    if (!list->is_dense()) continue;
    __builtin_prefetch(&list->dense().documents[block]);
    __builtin_prefetch(&list->dense().firsts[block]);
  }
}

void BlockScorer::PrefetchImpacts(uint32_t block) const {
  for (const WordList* list : words_->scoring()) {
    if (list->is_dense()) __builtin_prefetch(&list->dense().impacts[list->dense().firsts[block]]);
  }
}

void BlockScorer::ScoreBlock(uint32_t block) {
  const ScoreUnits rank_max =
      space_.static_rank_units_max == 0 ? 0 : space_.static_rank_maxima[block];
  const ScoreUnits least = hits_->least();
  const bool has_bar = least > rank_max;
  uint64_t documents = MatchesIn(block, has_bar);
  if (documents == 0) return;
  AddUnits(block);
  if (has_bar) {
    documents &= kernels_.at_least(units_.data(), least - rank_max);
    hits_->NotePruned();
  }
  hits_->CountMatches(static_cast<uint64_t>(std::popcount(documents)));
  for (; documents != 0; documents &= documents - 1) {
    const auto at = static_cast<uint32_t>(std::countr_zero(documents));
    const uint32_t ordinal = block * kDocumentBlockSize + at;
    hits_->Offer(ordinal, uint64_t{units_[at]} + space_.StaticRankUnits(ordinal));
  }
}

// Returns the block's documents that match. `has_bar`: the threshold is positive, so documents that
// score nothing may be among them.
uint64_t BlockScorer::MatchesIn(uint32_t block, bool has_bar) {
  uint64_t documents = live_ == nullptr ? ~uint64_t{0} : live_[block];
  if (!masks_.empty()) documents = masks_[block];
  // If all words are alternatives, any document over a positive threshold holds one of them.
  const bool all_are_alternatives = words_->required().empty() && words_->optional().empty();
  if (!words_->alternatives().empty() && !(has_bar && all_are_alternatives)) {
    documents &= DocumentsOf(words_->alternatives(), block);
  }
  if (!words_->excluded().empty()) documents &= ~DocumentsOf(words_->excluded(), block);
  return documents;
}

void BlockScorer::AddUnits(uint32_t block) {
  units_.fill(0);
  for (WordList* const list : words_->scoring()) {
    if (list->is_dense()) {
      const ImpactList& dense = list->dense();
      kernels_.add_units(dense.documents[block], dense.impacts + dense.firsts[block],
                         list->weight(), units_.data());
      continue;
    }
    const auto [begin, end] = list->InBlock(block);
    for (uint32_t i = begin; i < end; ++i) {
      units_[list->ordinals()[i] % kDocumentBlockSize] += list->units()[i];
    }
  }
}

}  // namespace search::index
