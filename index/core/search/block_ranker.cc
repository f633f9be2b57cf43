#include "index/core/search/block_ranker.h"

#include <algorithm>
#include <bit>

namespace search::index {
namespace {

using Role = FlatPlan::Role;

// Blocks ahead of the one in work whose lists, and whose impacts, are asked for.
constexpr size_t kListsAhead = 12;
constexpr size_t kImpactsAhead = 6;
// With so few documents left in a block each is scored on its own.
constexpr int kFewDocuments = 6;
// Fewest candidates that are worth choosing the best of first.
constexpr size_t kBestFirstMin = 32;

// A value that at least `wanted` of the values reach, and not many more; the smallest value if all
// are about equal.
template <typename Value, typename Get>
Value CutForBest(size_t count, size_t wanted, const Get& get) {
  Value low = get(0);
  Value high = low;
  for (size_t i = 1; i < count; ++i) {
    low = std::min<Value>(low, get(i));
    high = std::max<Value>(high, get(i));
  }
  constexpr uint32_t kBins = 256;
  const uint64_t width = (uint64_t{high} - low) / kBins + 1;
  const int shift = std::bit_width(width - 1);
  std::array<uint32_t, kBins> bins = {};
  for (size_t i = 0; i < count; ++i) ++bins[(get(i) - low) >> shift];
  size_t found = 0;
  for (uint32_t bin = kBins; bin-- > 0;) {
    found += bins[bin];
    if (found >= wanted) return static_cast<Value>(low + (uint64_t{bin} << shift));
  }
  return low;
}

// Units of saturation 1.
uint64_t Factor(const WordList& list) {
  return uint64_t{list.weight().Units(kImpactMax)} * 256 / 255 + 1;
}

}  // namespace

BlockRanker::BlockRanker(const FlatPlan& plan, Evaluation* evaluation, TopKQueue* queue)
    : space_(evaluation->space()),
      kernels_(Kernels()),
      evaluation_(evaluation),
      queue_(queue),
      live_(evaluation->live_words()) {
  lists_.reserve(plan.words.size());
  for (const FlatPlan::Word& word : plan.words) {
    lists_.emplace_back(word.leaf, word.occurrences, evaluation);
    WordList* const list = &lists_.back();
    if (word.role == Role::kRequired) required_.push_back(list);
    if (word.role == Role::kAlternative) alternatives_.push_back(list);
    if (word.role == Role::kOptional) optional_.push_back(list);
    if (word.role == Role::kExcluded) excluded_.push_back(list);
    if (list->scores()) scoring_.push_back(list);
  }
  AddPhrases(plan);
  std::stable_sort(required_.begin(), required_.end(), [](const WordList* a, const WordList* b) {
    return a->document_frequency() < b->document_frequency();
  });
}

void BlockRanker::AddPhrases(const FlatPlan& plan) {
  for (const FlatPlan::Phrase& phrase : plan.phrases) {
    std::vector<const WordList*> words;
    std::vector<PostingCursor*> cursors;
    for (const uint32_t word : phrase.words) {
      words.push_back(&lists_[word]);
      cursors.push_back(evaluation_->OpenCursor(lists_[word].entry()));
    }
    phrases_.push_back({words, cursors, PhraseCheck(cursors, phrase.positions, false)});
  }
}

RankingOutcome BlockRanker::Run() {
  if (!required_.empty() && !required_[0]->is_dense()) {
    RankDocuments();
  } else {
    RankBlocks();
  }
  return outcome_;
}

ScoreUnits BlockRanker::KnownBar() const {
  if (queue_->k() == 0 || !excluded_.empty() || !phrases_.empty() || live_ != nullptr) return 0;
  ScoreUnits bar = 0;
  if (required_.empty()) {
    for (const WordList* list : alternatives_) bar = std::max(bar, list->BestUnits(queue_->k()));
  } else if (required_.size() == 1 && alternatives_.empty()) {
    bar = required_[0]->BestUnits(queue_->k());
  }
  return bar;
}

void BlockRanker::RankBlocks() {
  for (WordList& list : lists_) {
    if (!list.is_dense()) list.Decode(evaluation_);
  }
  std::stable_sort(scoring_.begin(), scoring_.end(), [](const WordList* a, const WordList* b) {
    return a->units_max() > b->units_max();
  });
  if (evaluation_->stopped()) return;
  queue_->RaiseBar(KnownBar());
  BoundBlocks();
  const size_t block_count = space_.impacts.block_count();
  std::vector<uint32_t> blocks(block_count + 16);
  size_t count;
  if (required_.empty()) {
    count = kernels_.find_at_least(bounds_.data(), LeastBound(), block_count, blocks.data());
  } else {
    const uint64_t* first = required_[0]->dense().documents;
    masks_.assign(first, first + block_count);
    for (size_t i = 1; i < required_.size(); ++i) {
      kernels_.intersect(required_[i]->dense().documents, block_count, masks_.data());
    }
    if (live_ != nullptr) kernels_.intersect(live_, block_count, masks_.data());
    count = kernels_.find_masked_at_least(bounds_.data(), masks_.data(), LeastBound(), block_count,
                                          blocks.data());
  }
  if (LeastBound() > 0) outcome_.pruned = true;
  if (count == 0) return;
  const size_t wanted = std::max(kBestFirstMin, (required_.empty() ? 2 : 1) * queue_->k());
  uint16_t cut = 0;
  if (count > 2 * wanted) {
    cut = CutForBest<uint16_t>(count, wanted, [&](size_t i) { return bounds_[blocks[i]]; });
  }
  blocks.resize(count);
  ScoreBlocks(blocks, true, cut);
  if (cut > 0) {
    RewindLists();
    ScoreBlocks(blocks, false, cut);
  }
}

void BlockRanker::BoundBlocks() {
  uint64_t total = space_.static_rank_units_max;
  for (const WordList* list : scoring_) {
    total += list->is_dense() ? Factor(*list) : list->units_max();
  }
  while ((total >> shift_) + scoring_.size() > UINT16_MAX) ++shift_;
  const size_t block_count = space_.impacts.block_count();
  bounds_.assign(block_count, 0);
  if (space_.static_rank_units_max > 0) {
    slack_ += 1;
    for (size_t i = 0; i < space_.static_rank_maxima.size(); ++i) {
      bounds_[i] = static_cast<uint16_t>(space_.static_rank_maxima[i] >> shift_);
    }
  }
  for (WordList* list : scoring_) {
    // Units are rounded up by at most a half an occurrence, the factor and the sum down by one.
    slack_ += 3 + (list->weight().occurrences() >> shift_);
    if (list->is_dense()) {
      kernels_.add_bounds(list->dense().maxima, static_cast<uint16_t>(Factor(*list) >> shift_),
                          block_count, bounds_.data());
    } else {
      AddSparseBounds(list);
    }
    evaluation_->ShouldStop(static_cast<uint32_t>(block_count / 16));
  }
}

void BlockRanker::AddSparseBounds(WordList* list) {
  const auto ordinals = list->ordinals();
  const auto units = list->units();
  for (size_t i = 0; i < ordinals.size();) {
    const uint32_t block = ordinals[i] / kDocumentBlockSize;
    ScoreUnits best = units[i];
    for (++i; i < ordinals.size() && ordinals[i] / kDocumentBlockSize == block; ++i) {
      best = std::max(best, units[i]);
    }
    bounds_[block] = static_cast<uint16_t>(bounds_[block] + (best >> shift_));
  }
}

uint16_t BlockRanker::LeastBound() const {
  const uint64_t least = queue_->required() >> shift_;
  return static_cast<uint16_t>(least > slack_ ? std::min<uint64_t>(least - slack_, UINT16_MAX) : 0);
}

void BlockRanker::RewindLists() {
  for (WordList& list : lists_) list.Rewind();
}

// Of the blocks, the ones bounded by at least the cut (`best`), or the others.
void BlockRanker::ScoreBlocks(std::span<const uint32_t> blocks, bool best, uint16_t cut) {
  const uint16_t least = LeastBound();
  std::vector<uint32_t> chosen(blocks.size());
  size_t count = 0;
  for (const uint32_t block : blocks) {
    chosen[count] = block;
    count += (bounds_[block] >= cut) == best && bounds_[block] >= least ? 1 : 0;
  }
  for (size_t i = 0; i < std::min(count, kListsAhead); ++i) PrefetchBlock(chosen[i]);
  for (size_t i = 0; i < std::min(count, kImpactsAhead); ++i) PrefetchImpacts(chosen[i]);
  for (size_t i = 0; i < count; ++i) {
    if (i + kListsAhead < count) PrefetchBlock(chosen[i + kListsAhead]);
    if (i + kImpactsAhead < count) PrefetchImpacts(chosen[i + kImpactsAhead]);
    if (bounds_[chosen[i]] >= LeastBound()) {
      ConsiderBlock(chosen[i]);
    } else {
      outcome_.pruned = true;
    }
    if (evaluation_->ShouldStop(kDocumentBlockSize)) break;
  }
  if (!best && count < blocks.size()) outcome_.pruned = true;
  CheckPending();
}

void BlockRanker::PrefetchBlock(uint32_t block) const {
  for (const WordList* list : scoring_) {
    if (!list->is_dense()) continue;
    __builtin_prefetch(&list->dense().documents[block]);
    __builtin_prefetch(&list->dense().firsts[block]);
  }
}

void BlockRanker::PrefetchImpacts(uint32_t block) const {
  for (const WordList* list : scoring_) {
    if (list->is_dense()) __builtin_prefetch(&list->dense().impacts[list->dense().firsts[block]]);
  }
}

uint64_t BlockRanker::Excluded(uint32_t block) {
  uint64_t documents = 0;
  for (WordList* list : excluded_) {
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

uint64_t BlockRanker::Alternatives(uint32_t block) {
  uint64_t documents = 0;
  for (WordList* list : alternatives_) {
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

void BlockRanker::ConsiderBlock(uint32_t block) {
  uint64_t documents = ~uint64_t{0};
  if (!masks_.empty()) {
    documents = masks_[block];
  } else if (live_ != nullptr) {
    documents = live_[block];
  }
  if (!alternatives_.empty()) documents &= Alternatives(block);
  if (!excluded_.empty()) documents &= ~Excluded(block);
  if (documents == 0) return;
  if (phrases_.empty()) outcome_.matched += static_cast<uint64_t>(std::popcount(documents));
  if (!masks_.empty() && std::popcount(documents) <= kFewDocuments) {
    return ConsiderFew(block, documents);
  }
  if (!AddUnits(block)) {
    outcome_.pruned = true;
    return;
  }
  const uint64_t required = queue_->required();
  const ScoreUnits rank_max =
      space_.static_rank_units_max == 0 ? 0 : space_.static_rank_maxima[block];
  if (required > rank_max) {
    const uint64_t able =
        kernels_.at_least(units_.data(), static_cast<ScoreUnits>(required - rank_max));
    if ((documents & ~able) != 0) outcome_.pruned = true;
    documents &= able;
  }
  for (; documents != 0; documents &= documents - 1) {
    const auto at = static_cast<uint32_t>(std::countr_zero(documents));
    const uint32_t ordinal = block * kDocumentBlockSize + at;
    Offer(ordinal, uint64_t{units_[at]} + space_.StaticRankUnits(ordinal));
  }
}

void BlockRanker::ConsiderFew(uint32_t block, uint64_t documents) {
  for (const uint32_t first = block * kDocumentBlockSize; documents != 0;
       documents &= documents - 1) {
    const uint32_t ordinal = first + static_cast<uint32_t>(std::countr_zero(documents));
    uint64_t units = space_.StaticRankUnits(ordinal);
    for (WordList* list : scoring_) {
      if (list->is_dense()) {
        if (HoldsDocument(list->dense().documents, ordinal)) units += list->UnitsOf(ordinal);
        continue;
      }
      const auto [begin, end] = list->InBlock(block);
      for (uint32_t i = begin; i < end; ++i) {
        if (list->ordinals()[i] == ordinal) units += list->units()[i];
      }
    }
    Offer(ordinal, units);
  }
}

bool BlockRanker::AddUnits(uint32_t block) {
  units_.fill(0);
  const uint64_t required = queue_->required();
  uint64_t rest = 0;
  if (required > 0) {
    rest = space_.static_rank_units_max == 0 ? 0 : space_.static_rank_maxima[block];
    for (const WordList* list : scoring_) {
      rest += list->is_dense() ? list->BlockUnits(block) : list->units_max();
    }
  }
  for (size_t i = 0; i < scoring_.size(); ++i) {
    WordList* const list = scoring_[i];
    if (list->is_dense()) {
      const ImpactList& dense = list->dense();
      const uint64_t documents = dense.documents[block];
      if (documents != 0) {
        kernels_.add_units(documents, dense.impacts + dense.firsts[block], list->weight(),
                           units_.data());
      }
      if (required > 0) rest -= list->BlockUnits(block);
    } else {
      const auto [begin, end] = list->InBlock(block);
      for (uint32_t j = begin; j < end; ++j) {
        units_[list->ordinals()[j] % kDocumentBlockSize] += list->units()[j];
      }
      if (required > 0) rest -= list->units_max();
    }
    if (i + 1 < scoring_.size() && required > rest &&
        kernels_.at_least(units_.data(), static_cast<ScoreUnits>(required - rest)) == 0) {
      return false;
    }
  }
  return true;
}

void BlockRanker::RankDocuments() {
  Sieve();
  if (evaluation_->stopped()) return;
  queue_->RaiseBar(KnownBar());
  ScoreDocuments();
}

void BlockRanker::Sieve() {
  WordList* const lead = required_[0];
  lead->Decode(evaluation_);
  candidate_count_ = lead->ordinals().size();
  ordinals_.resize(candidate_count_ + 16);
  candidate_units_.resize(candidate_count_ + 16);
  std::copy(lead->ordinals().begin(), lead->ordinals().end(), ordinals_.begin());
  std::copy(lead->units().begin(), lead->units().end(), candidate_units_.begin());
  if (live_ != nullptr) {
    candidate_count_ =
        kernels_.keep(live_, true, candidate_count_, ordinals_.data(), candidate_units_.data());
  }
  // Bitmaps first: they are cheapest.
  for (const bool dense : {true, false}) {
    for (size_t i = 1; i < required_.size(); ++i) {
      if (required_[i]->is_dense() == dense) KeepMembers(required_[i]);
    }
    for (WordList* list : excluded_) {
      if (list->is_dense() == dense) DropMembers(list);
    }
  }
  if (!alternatives_.empty()) KeepAlternatives();
  for (WordList* list : optional_) {
    if (!list->is_dense()) Meet(list, [](size_t, bool) {});
  }
  if (phrases_.empty()) outcome_.matched = candidate_count_;
}

void BlockRanker::KeepMembers(WordList* list) {
  if (list->is_dense()) {
    candidate_count_ = kernels_.keep(list->dense().documents, true, candidate_count_,
                                     ordinals_.data(), candidate_units_.data());
    evaluation_->ShouldStop(static_cast<uint32_t>(candidate_count_));
    return;
  }
  size_t kept = 0;
  Meet(list, [&](size_t i, bool found) {
    ordinals_[kept] = ordinals_[i];
    candidate_units_[kept] = candidate_units_[i];
    kept += found ? 1 : 0;
  });
  candidate_count_ = kept;
}

void BlockRanker::DropMembers(WordList* list) {
  if (list->is_dense()) {
    candidate_count_ = kernels_.keep(list->dense().documents, false, candidate_count_,
                                     ordinals_.data(), candidate_units_.data());
    return;
  }
  size_t kept = 0;
  Meet(list, [&](size_t i, bool found) {
    ordinals_[kept] = ordinals_[i];
    candidate_units_[kept] = candidate_units_[i];
    kept += found ? 0 : 1;
  });
  candidate_count_ = kept;
}

template <typename Found>
void BlockRanker::Meet(WordList* list, Found found) {
  list->Decode(evaluation_);
  const auto ordinals = list->ordinals();
  const auto units = list->units();
  size_t at = 0;
  for (size_t i = 0; i < candidate_count_; ++i) {
    const uint32_t ordinal = ordinals_[i];
    size_t step = 1;
    while (at + step < ordinals.size() && ordinals[at + step] < ordinal) {
      at += step;
      step *= 2;
    }
    const auto to = ordinals.begin() + static_cast<ptrdiff_t>(std::min(at + step, ordinals.size()));
    at = static_cast<size_t>(
        std::lower_bound(ordinals.begin() + static_cast<ptrdiff_t>(at), to, ordinal) -
        ordinals.begin());
    const bool is_member = at < ordinals.size() && ordinals[at] == ordinal;
    if (is_member && list->scores()) candidate_units_[i] += units[at];
    found(i, is_member);
  }
}

void BlockRanker::KeepAlternatives() {
  std::vector<uint8_t> held(candidate_count_, 0);
  for (WordList* list : alternatives_) {
    if (list->is_dense()) {
      for (size_t i = 0; i < candidate_count_; ++i) {
        held[i] |= HoldsDocument(list->dense().documents, ordinals_[i]) ? 1 : 0;
      }
    } else {
      Meet(list, [&](size_t i, bool found) { held[i] |= found ? 1 : 0; });
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < candidate_count_; ++i) {
    ordinals_[kept] = ordinals_[i];
    candidate_units_[kept] = candidate_units_[i];
    kept += held[i];
  }
  candidate_count_ = kept;
}

void BlockRanker::ScoreDocuments() {
  if (candidate_count_ == 0) return;
  std::erase_if(scoring_, [](const WordList* list) { return !list->is_dense(); });
  std::vector<uint64_t> bounds(candidate_count_);
  for (size_t i = 0; i < candidate_count_; ++i) {
    const uint32_t block = ordinals_[i] / kDocumentBlockSize;
    uint64_t bound = candidate_units_[i];
    for (const WordList* list : scoring_) bound += list->BlockUnits(block);
    if (space_.static_rank_units_max > 0) bound += space_.static_rank_maxima[block];
    bounds[i] = bound;
  }
  uint64_t cut = 0;
  const size_t wanted = std::max(kBestFirstMin, queue_->k());
  if (candidate_count_ > 2 * wanted) {
    cut = CutForBest<uint64_t>(candidate_count_, wanted, [&](size_t i) { return bounds[i]; });
  }
  for (const bool best : {true, false}) {
    for (size_t i = 0; i < candidate_count_; ++i) {
      if ((bounds[i] >= cut) != best) continue;
      ConsiderDocument(ordinals_[i], candidate_units_[i], bounds[i]);
      if (evaluation_->ShouldStop(1)) break;
    }
    CheckPending();
    if (cut == 0 || evaluation_->stopped()) break;
  }
}

void BlockRanker::ConsiderDocument(uint32_t ordinal, ScoreUnits candidate_units, uint64_t bound) {
  if (!queue_->CanEnter(bound)) {
    if (!phrases_.empty()) outcome_.pruned = true;
    return;
  }
  uint64_t units = uint64_t{candidate_units} + space_.StaticRankUnits(ordinal);
  for (const WordList* list : scoring_) {
    if (HoldsDocument(list->dense().documents, ordinal)) units += list->UnitsOf(ordinal);
  }
  Offer(ordinal, units);
}

// Documents of RankDocuments that are left out here are known to match, unless phrases say otherwise.
void BlockRanker::Offer(uint32_t ordinal, uint64_t units) {
  if (!queue_->CanEnter(units)) {
    if (!phrases_.empty()) outcome_.pruned = true;
    return;
  }
  if (phrases_.empty()) {
    queue_->Offer(ordinal, static_cast<ScoreUnits>(units));
  } else {
    pending_.emplace_back(static_cast<ScoreUnits>(units), ~ordinal);
  }
}

void BlockRanker::CheckPending() {
  std::make_heap(pending_.begin(), pending_.end());
  while (!pending_.empty() && !evaluation_->ShouldStop(kDocumentBlockSize)) {
    std::pop_heap(pending_.begin(), pending_.end());
    const ScoreUnits units = pending_.back().first;
    const uint32_t ordinal = ~pending_.back().second;
    pending_.pop_back();
    if (!queue_->CanEnter(units)) {
      outcome_.pruned = true;
      pending_.clear();
      break;
    }
    if (!MatchesPhrases(ordinal)) continue;
    ++outcome_.matched;
    queue_->Offer(ordinal, units);
  }
}

bool BlockRanker::MatchesPhrases(uint32_t ordinal) {
  for (Phrase& phrase : phrases_) {
    for (size_t i = 0; i < phrase.words.size(); ++i) {
      const WordList& list = *phrase.words[i];
      uint32_t posting;
      if (list.is_dense()) {
        posting = list.PostingOf(ordinal);
      } else {
        const auto ordinals = list.ordinals();
        posting = static_cast<uint32_t>(
            std::lower_bound(ordinals.begin(), ordinals.end(), ordinal) - ordinals.begin());
      }
      if (!phrase.cursors[i]->MoveToPosting(posting)) return false;
    }
    if (!phrase.check.Matches()) return false;
  }
  return true;
}

}  // namespace search::index
