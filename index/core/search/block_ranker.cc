#include "index/core/search/block_ranker.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

namespace search::index {
namespace {

using Role = FlatPlan::Role;

// Prefetch distances, in blocks, for lists and for impacts.
constexpr size_t kListsAhead = 12;
constexpr size_t kImpactsAhead = 6;
// Fewest candidates for which scoring the best ones first pays off.
constexpr size_t kBestFirstMin = 24;
// Cost of checking a phrase in a document out of order, relative to a document in order.
constexpr size_t kRandomCheckCost = 3;
// Documents whose phrases are checked together.
constexpr size_t kPhraseGroup = 16;
// Maximal number of lists whose documents are merged sequentially.
constexpr size_t kMergedListsMax = 8;
// Slack after the end of arrays, because kernels write whole vectors.
constexpr size_t kRoom = 16;

// A threshold that at least `wanted` of the values reach, and not many more. `most`: upper bound of
// the values.
template <typename Value>
Value CutForBest(std::span<const Value> values, Value most, size_t wanted) {
  constexpr uint32_t kBins = 512;
  const int shift = std::bit_width(most / kBins);
  std::array<uint32_t, kBins> bins = {};
  for (const Value value : values) ++bins[value >> shift];
  size_t found = 0;
  for (uint32_t bin = kBins; bin-- > 0;) {
    found += bins[bin];
    if (found >= wanted) return static_cast<Value>(bin << shift);
  }
  return 0;
}

// Units of a saturation of 1.
uint64_t Factor(const WordList& list) {
  return uint64_t{list.weight().Units(kImpactMax)} * 256 / 255 + 1;
}

}  // namespace

BlockRanker::BlockRanker(const FlatPlan& plan, bool count_exactly, Evaluation* evaluation,
                         TopKQueue* queue)
    : space_(evaluation->space()),
      kernels_(Kernels()),
      evaluation_(evaluation),
      queue_(queue),
      live_(evaluation->live_words()),
      checks_all_(count_exactly && !plan.phrases.empty()) {
  lists_.reserve(plan.words.size());
  for (const FlatPlan::Word& word : plan.words) {
    lists_.emplace_back(word.leaf, queue->k() > 0 ? word.occurrences : 0, evaluation);
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
    std::vector<PlanLeaf> leaves;
    std::vector<WordList*> words;
    for (const uint32_t word : phrase.words) {
      leaves.push_back(plan.words[word].leaf);
      words.push_back(&lists_[word]);
    }
    phrases_.push_back({std::move(words), PhraseCheck(leaves, phrase.positions, evaluation_), {}});
  }
}

RankingOutcome BlockRanker::Run() {
  if (!required_.empty() && !required_[0]->is_dense()) {
    required_[0]->Decode();
    queue_->RaiseBar(KnownBar());
    CollectDocuments(*required_[0]);
    RankDocuments();
    return outcome_;
  }
  for (WordList* list : alternatives_) {
    if (!list->is_dense()) list->Decode();
  }
  queue_->RaiseBar(KnownBar());
  if (!required_.empty()) {
    RankBlocks();
    return outcome_;
  }
  const std::vector<WordList*> essential = EssentialAlternatives();
  const auto is_dense = [](const WordList* list) { return list->is_dense(); };
  if (essential.size() > kMergedListsMax ||
      std::any_of(essential.begin(), essential.end(), is_dense)) {
    RankBlocks();
    return outcome_;
  }
  if (essential.size() < alternatives_.size()) outcome_.pruned = true;
  for (WordList* list : essential) MergeDocuments(*list);
  for (WordList* list : alternatives_) {
    if (std::find(essential.begin(), essential.end(), list) == essential.end()) {
      optional_.push_back(list);
    }
  }
  RankDocuments();
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

std::vector<WordList*> BlockRanker::EssentialAlternatives() const {
  std::vector<WordList*> lists = alternatives_;
  std::stable_sort(lists.begin(), lists.end(), [](const WordList* a, const WordList* b) {
    return a->units_max() < b->units_max();
  });
  uint64_t units = space_.static_rank_units_max;
  for (const WordList* list : optional_) units += list->units_max();
  size_t inessential = 0;
  for (; inessential < lists.size(); ++inessential) {
    units += lists[inessential]->units_max();
    if (queue_->CanEnter(units)) break;
  }
  lists.erase(lists.begin(), lists.begin() + static_cast<ptrdiff_t>(inessential));
  return lists;
}

void BlockRanker::RankBlocks() {
  for (const auto* lists : {&optional_, &excluded_}) {
    for (WordList* list : *lists) {
      if (!list->is_dense()) list->Decode();
    }
  }
  std::stable_sort(scoring_.begin(), scoring_.end(), [](const WordList* a, const WordList* b) {
    return a->units_max() > b->units_max();
  });
  if (evaluation_->stopped()) return;
  BoundBlocks();
  const std::vector<uint32_t> blocks = FindBlocks();
  if (blocks.empty()) return;
  const size_t wanted = std::max(kBestFirstMin, (required_.empty() ? 2 : 1) * queue_->k());
  uint16_t cut = 0;
  if (blocks.size() > 2 * wanted && !checks_all_) {
    std::vector<uint16_t> bounds(blocks.size());
    for (size_t i = 0; i < blocks.size(); ++i) bounds[i] = bounds_[blocks[i]];
    cut = CutForBest<uint16_t>(bounds, bound_max_, wanted);
  }
  ScoreBlocks(blocks, true, cut);
  if (cut == 0) return;
  RewindLists();
  ScoreBlocks(blocks, false, cut);
}

void BlockRanker::BoundBlocks() {
  uint64_t total = space_.static_rank_units_max;
  for (const WordList* list : scoring_) {
    total += list->is_dense() ? Factor(*list) : list->units_max();
  }
  while ((total >> shift_) + scoring_.size() > UINT16_MAX) ++shift_;
  bound_max_ = static_cast<uint16_t>((total >> shift_) + scoring_.size());
  const size_t block_count = space_.impacts.block_count();
  bounds_.assign(block_count, 0);
  if (space_.static_rank_units_max > 0) {
    slack_ += 1;
    for (size_t i = 0; i < block_count; ++i) {
      bounds_[i] = static_cast<uint16_t>(space_.static_rank_maxima[i] >> shift_);
    }
  }
  for (const WordList* list : scoring_) {
    // Units are rounded up by at most half a unit per occurrence; the factor and the sum are
    // rounded down by at most one.
    slack_ += 3 + (list->weight().occurrences() >> shift_);
    AddBounds(*list);
    evaluation_->ShouldStop(static_cast<uint32_t>(block_count / 16));
  }
}

void BlockRanker::AddBounds(const WordList& list) {
  if (list.is_dense()) {
    kernels_.add_bounds(list.dense().maxima, static_cast<uint16_t>(Factor(list) >> shift_),
                        bounds_.size(), bounds_.data());
    return;
  }
  const auto ordinals = list.ordinals();
  const auto units = list.units();
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
  if (checks_all_) return 0;
  const uint64_t least = queue_->required() >> shift_;
  return static_cast<uint16_t>(least > slack_ ? std::min<uint64_t>(least - slack_, UINT16_MAX) : 0);
}

// Returns the blocks that may hold a hit.
std::vector<uint32_t> BlockRanker::FindBlocks() {
  const size_t block_count = bounds_.size();
  std::vector<uint32_t> blocks(block_count + kRoom);
  const uint16_t least = LeastBound();
  if (least > 0) outcome_.pruned = true;
  if (required_.empty()) {
    blocks.resize(kernels_.find_at_least(bounds_.data(), least, block_count, blocks.data()));
    return blocks;
  }
  IntersectBlocks();
  blocks.resize(kernels_.find_masked_at_least(bounds_.data(), masks_.data(), least, block_count,
                                              blocks.data()));
  return blocks;
}

void BlockRanker::IntersectBlocks() {
  const size_t block_count = space_.impacts.block_count();
  const uint64_t* first = required_[0]->dense().documents;
  masks_.assign(first, first + block_count);
  for (size_t i = 1; i < required_.size(); ++i) {
    kernels_.intersect(required_[i]->dense().documents, block_count, masks_.data());
    evaluation_->ShouldStop(static_cast<uint32_t>(block_count / 16));
  }
  if (live_ != nullptr) kernels_.intersect(live_, block_count, masks_.data());
}

std::optional<uint64_t> BlockRanker::Count() {
  if (required_.empty()) {
    if (alternatives_.size() != 2 || !excluded_.empty() || live_ != nullptr) return std::nullopt;
    // The union of two lists is counted faster through the size of their intersection.
    return uint64_t{alternatives_[0]->document_frequency()} +
           alternatives_[1]->document_frequency() -
           CountIntersection(alternatives_[0], alternatives_[1]);
  }
  if (required_[0]->is_dense()) {
    if (!alternatives_.empty()) return std::nullopt;
    if (required_.size() == 2 && excluded_.empty() && live_ == nullptr) {
      return CountIntersection(required_[0], required_[1]);
    }
    return CountBlocks();
  }
  optional_.clear();
  required_[0]->Decode();
  CollectDocuments(*required_[0]);
  Sieve();
  return candidate_count_;
}

uint64_t BlockRanker::CountIntersection(WordList* a, WordList* b) {
  if (a->is_dense() && b->is_dense()) {
    evaluation_->ShouldStop(static_cast<uint32_t>(space_.impacts.block_count() / 8));
    return kernels_.count_intersection(a->dense().documents, b->dense().documents,
                                       space_.impacts.block_count());
  }
  if (a->is_dense() || (!b->is_dense() && a->document_frequency() > b->document_frequency())) {
    std::swap(a, b);
  }
  a->Decode();
  CollectDocuments(*a);
  Keep(b, true);
  return candidate_count_;
}

uint64_t BlockRanker::CountBlocks() {
  IntersectBlocks();
  for (WordList* list : excluded_) {
    if (list->is_dense()) {
      for (size_t i = 0; i < masks_.size(); ++i) masks_[i] &= ~list->dense().documents[i];
      continue;
    }
    list->Decode();
    for (const uint32_t ordinal : list->ordinals()) {
      masks_[ordinal / kDocumentBlockSize] &= ~(uint64_t{1} << (ordinal % kDocumentBlockSize));
    }
  }
  evaluation_->ShouldStop(static_cast<uint32_t>(masks_.size() / 4));
  return kernels_.count(masks_.data(), masks_.size());
}

void BlockRanker::RewindLists() {
  for (WordList& list : lists_) list.Rewind();
}

// Scores the blocks bounded by at least the cut (`best`), or all the others.
void BlockRanker::ScoreBlocks(std::span<const uint32_t> blocks, bool best, uint16_t cut) {
  const uint16_t least = LeastBound();
  const auto chosen = std::make_unique_for_overwrite<uint32_t[]>(blocks.size());
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

// Returns the block's documents that are in any of the lists.
uint64_t BlockRanker::DocumentsOf(const std::vector<WordList*>& lists, uint32_t block) {
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

void BlockRanker::ConsiderBlock(uint32_t block) {
  uint64_t documents = live_ == nullptr ? ~uint64_t{0} : live_[block];
  if (!masks_.empty()) documents = masks_[block];
  const ScoreUnits rank_max =
      space_.static_rank_units_max == 0 ? 0 : space_.static_rank_maxima[block];
  const ScoreUnits required = queue_->required();
  const bool has_bar = !checks_all_ && required > rank_max;
  // If all words are alternatives, any document over a positive threshold holds one of them.
  const bool all_are_alternatives = required_.empty() && optional_.empty();
  if (!alternatives_.empty() && !(has_bar && all_are_alternatives)) {
    documents &= DocumentsOf(alternatives_, block);
  }
  if (!excluded_.empty()) documents &= ~DocumentsOf(excluded_, block);
  if (documents == 0) return;
  AddUnits(block);
  if (has_bar) {
    documents &= kernels_.at_least(units_.data(), required - rank_max);
    outcome_.pruned = true;
  }
  if (phrases_.empty()) outcome_.matched += static_cast<uint64_t>(std::popcount(documents));
  for (; documents != 0; documents &= documents - 1) {
    const auto at = static_cast<uint32_t>(std::countr_zero(documents));
    const uint32_t ordinal = block * kDocumentBlockSize + at;
    Offer(ordinal, uint64_t{units_[at]} + space_.StaticRankUnits(ordinal));
  }
}

void BlockRanker::AddUnits(uint32_t block) {
  units_.fill(0);
  for (WordList* const list : scoring_) {
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

void BlockRanker::RankDocuments() {
  Sieve();
  if (!evaluation_->stopped()) ScoreDocuments();
}

void BlockRanker::CollectDocuments(const WordList& list) {
  candidate_count_ = list.ordinals().size();
  ordinals_ = std::make_unique_for_overwrite<uint32_t[]>(candidate_count_ + kRoom);
  candidate_units_ = std::make_unique_for_overwrite<ScoreUnits[]>(candidate_count_ + kRoom);
  std::copy(list.ordinals().begin(), list.ordinals().end(), ordinals_.get());
  if (list.scores()) {
    std::copy(list.units().begin(), list.units().end(), candidate_units_.get());
  } else {
    std::fill_n(candidate_units_.get(), candidate_count_, 0);
  }
}

// Merges the list's documents into the candidates.
void BlockRanker::MergeDocuments(const WordList& list) {
  if (candidate_count_ == 0) return CollectDocuments(list);
  const auto ordinals = list.ordinals();
  const auto units_of = [units = list.units()](size_t i) { return units.empty() ? 0 : units[i]; };
  const size_t room = candidate_count_ + ordinals.size() + kRoom;
  auto merged = std::make_unique_for_overwrite<uint32_t[]>(room);
  auto merged_units = std::make_unique_for_overwrite<ScoreUnits[]>(room);
  size_t a = 0;
  size_t b = 0;
  size_t count = 0;
  while (a < candidate_count_ && b < ordinals.size()) {
    const uint32_t left = ordinals_[a];
    const uint32_t right = ordinals[b];
    merged[count] = std::min(left, right);
    merged_units[count++] =
        (left <= right ? candidate_units_[a] : 0) + (right <= left ? units_of(b) : 0);
    a += left <= right ? 1 : 0;
    b += right <= left ? 1 : 0;
  }
  for (; a < candidate_count_; ++a, ++count) {
    merged[count] = ordinals_[a];
    merged_units[count] = candidate_units_[a];
  }
  for (; b < ordinals.size(); ++b, ++count) {
    merged[count] = ordinals[b];
    merged_units[count] = units_of(b);
  }
  candidate_count_ = count;
  evaluation_->ShouldStop(static_cast<uint32_t>(count));
  ordinals_ = std::move(merged);
  candidate_units_ = std::move(merged_units);
}

void BlockRanker::Sieve() {
  if (live_ != nullptr) {
    candidate_count_ =
        kernels_.keep(live_, true, candidate_count_, ordinals_.get(), candidate_units_.get());
  }
  // Dense lists first: testing a bitmap is cheapest.
  for (const bool dense : {true, false}) {
    for (size_t i = 1; i < required_.size(); ++i) {
      if (required_[i]->is_dense() == dense) Keep(required_[i], true);
    }
    for (WordList* list : excluded_) {
      if (list->is_dense() == dense) Keep(list, false);
    }
  }
  if (!alternatives_.empty() && !required_.empty()) KeepAlternatives();
  for (WordList* list : optional_) {
    if (!list->is_dense()) Meet(list, [](size_t, bool) {});
  }
  if (phrases_.empty()) outcome_.matched = candidate_count_;
}

// Keeps the candidates that are in the list (`wanted`) or not in it (not `wanted`).
void BlockRanker::Keep(WordList* list, bool wanted) {
  if (list->is_dense()) {
    candidate_count_ = kernels_.keep(list->dense().documents, wanted, candidate_count_,
                                     ordinals_.get(), candidate_units_.get());
    evaluation_->ShouldStop(static_cast<uint32_t>(candidate_count_));
    return;
  }
  size_t kept = 0;
  Meet(list, [&](size_t i, bool found) {
    ordinals_[kept] = ordinals_[i];
    candidate_units_[kept] = candidate_units_[i];
    kept += found == wanted ? 1 : 0;
  });
  candidate_count_ = kept;
}

template <typename Found>
void BlockRanker::Meet(WordList* list, Found found) {
  if (list->CanSeek(candidate_count_)) {
    for (size_t i = 0; i < candidate_count_; ++i) {
      const std::optional<ScoreUnits> units = list->Seek(ordinals_[i]);
      if (units) candidate_units_[i] += *units;
      found(i, units.has_value());
    }
    return;
  }
  list->Decode();
  const auto ordinals = list->ordinals();
  const auto units = list->units();
  const auto places = std::make_unique_for_overwrite<uint32_t[]>(candidate_count_);
  kernels_.find(ordinals_.get(), candidate_count_, ordinals.data(), places.get());
  for (size_t i = 0; i < candidate_count_; ++i) {
    const uint32_t place = places[i];
    const bool is_member = place < ordinals.size() && ordinals[place] == ordinals_[i];
    if (is_member && !units.empty()) candidate_units_[i] += units[place];
    found(i, is_member);
  }
  evaluation_->ShouldStop(static_cast<uint32_t>(candidate_count_));
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
  const auto bounds = std::make_unique_for_overwrite<ScoreUnits[]>(candidate_count_);
  std::copy_n(candidate_units_.get(), candidate_count_, bounds.get());
  for (const WordList* list : scoring_) {
    kernels_.add_block_units(list->dense().maxima, list->weight(), ordinals_.get(),
                             candidate_count_, bounds.get());
    evaluation_->ShouldStop(static_cast<uint32_t>(candidate_count_ / 16));
  }
  if (space_.static_rank_units_max > 0) {
    for (size_t i = 0; i < candidate_count_; ++i) {
      bounds[i] += space_.static_rank_maxima[ordinals_[i] / kDocumentBlockSize];
    }
  }
  chosen_ = std::make_unique_for_overwrite<uint32_t[]>(candidate_count_ + kRoom);
  chosen_units_ = std::make_unique_for_overwrite<ScoreUnits[]>(candidate_count_ + kRoom);
  ScoreUnits cut = 0;
  const size_t wanted = std::max(kBestFirstMin, queue_->k() + queue_->k() / 2);
  if (candidate_count_ > 2 * wanted && !checks_all_) {
    const ScoreUnits most = *std::max_element(bounds.get(), bounds.get() + candidate_count_);
    cut = CutForBest<ScoreUnits>({bounds.get(), candidate_count_}, most, wanted);
  }
  const auto score_between = [&](ScoreUnits least, ScoreUnits end) {
    if (!checks_all_) least = std::max(least, queue_->required());
    ScoreChosen(kernels_.choose(bounds.get(), least, end, ordinals_.get(), candidate_units_.get(),
                                candidate_count_, chosen_.get(), chosen_units_.get()));
  };
  score_between(cut, UINT32_MAX);
  if (cut > 0 && !evaluation_->stopped()) score_between(0, cut);
}

void BlockRanker::ScoreChosen(size_t count) {
  for (const WordList* list : scoring_) {
    kernels_.add_units_of(list->dense(), list->weight(), chosen_.get(), count, chosen_units_.get());
    evaluation_->ShouldStop(static_cast<uint32_t>(count));
  }
  for (size_t i = 0; i < count; ++i) {
    Offer(chosen_[i], uint64_t{chosen_units_[i]} + space_.StaticRankUnits(chosen_[i]));
  }
  CheckPending();
}

void BlockRanker::Offer(uint32_t ordinal, uint64_t units) {
  if (!phrases_.empty()) {
    if (checks_all_ || queue_->CanEnter(units)) {
      pending_.push_back({static_cast<ScoreUnits>(units), ordinal, false});
    } else {
      outcome_.pruned = true;
    }
  } else if (queue_->CanEnter(units)) {
    queue_->Offer(ordinal, static_cast<ScoreUnits>(units));
  }
}

// Checks the pending documents in small groups, and prefetches what a group reads before its first
// check. Starts with the best documents if, judging by the checks so far, few will be needed.
// Otherwise, or if that proves wrong, checks them in document order, which reads less.
void BlockRanker::CheckPending() {
  const uint64_t missing = queue_->k() > outcome_.matched ? queue_->k() - outcome_.matched : 1;
  const uint64_t expected = missing * (checked_ + 1) / (outcome_.matched + 1);
  if (!checks_all_ && expected * kRandomCheckCost <= pending_.size()) CheckBest(2 * expected);
  std::array<Pending, kPhraseGroup> group;
  for (size_t next = 0; next < pending_.size() && !evaluation_->stopped();) {
    size_t count = 0;
    for (; count < kPhraseGroup && next < pending_.size(); ++next) {
      if (pending_[next].is_checked) continue;
      if (checks_all_ || queue_->CanEnter(pending_[next].units)) {
        group[count++] = pending_[next];
      } else {
        outcome_.pruned = true;
      }
    }
    CheckGroup({group.data(), count});
  }
  pending_.clear();
}

// Checks phrases for the `limit` best pending documents.
void BlockRanker::CheckBest(size_t limit) {
  std::vector<uint32_t> heap(pending_.size());
  std::iota(heap.begin(), heap.end(), 0);
  const auto is_worse = [this](uint32_t a, uint32_t b) {
    const Pending& left = pending_[a];
    const Pending& right = pending_[b];
    return left.units != right.units ? left.units < right.units : left.ordinal > right.ordinal;
  };
  std::make_heap(heap.begin(), heap.end(), is_worse);
  std::array<Pending, kPhraseGroup> group;
  for (size_t done = 0; done < limit && !heap.empty() && !evaluation_->stopped();) {
    size_t count = 0;
    for (; count < kPhraseGroup && !heap.empty(); ++count) {
      std::pop_heap(heap.begin(), heap.end(), is_worse);
      Pending& next = pending_[heap.back()];
      if (!queue_->CanEnter(next.units)) break;
      heap.pop_back();
      next.is_checked = true;
      group[count] = next;
    }
    if (count == 0) return;  // no other can enter
    done += count;
    CheckGroup({group.data(), count});
  }
}

void BlockRanker::CheckGroup(std::span<const Pending> group) {
  for (const Pending& pending : group) {
    for (const Phrase& phrase : phrases_) {
      for (const WordList* list : phrase.words) list->PrefetchPosting(pending.ordinal);
    }
  }
  for (Phrase& phrase : phrases_) {
    const size_t width = phrase.words.size();
    phrase.postings.resize(group.size() * width);
    for (size_t i = 0; i < group.size(); ++i) {
      for (size_t word = 0; word < width; ++word) {
        phrase.postings[i * width + word] = phrase.words[word]->PostingOf(group[i].ordinal);
      }
    }
    for (const int step : {0, 1, 2}) {
      for (size_t i = 0; i < group.size(); ++i) {
        phrase.check.Prefetch({&phrase.postings[i * width], width}, step);
      }
    }
  }
  for (size_t i = 0; i < group.size(); ++i) {
    const auto [units, ordinal, is_checked] = group[i];
    if (!checks_all_ && !queue_->CanEnter(units)) {
      outcome_.pruned = true;
      continue;
    }
    if (evaluation_->ShouldStop(kDocumentBlockSize)) return;
    ++checked_;
    const bool matches = std::all_of(phrases_.begin(), phrases_.end(), [i](Phrase& phrase) {
      const size_t width = phrase.words.size();
      return phrase.check.Matches({&phrase.postings[i * width], width});
    });
    if (!matches) continue;
    ++outcome_.matched;
    if (queue_->CanEnter(units)) queue_->Offer(ordinal, units);
  }
}

}  // namespace search::index
