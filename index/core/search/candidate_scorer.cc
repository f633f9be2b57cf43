#include "index/core/search/candidate_scorer.h"

#include <algorithm>

#include "index/core/search/best_cut.h"

namespace search::index {

CandidateScorer::CandidateScorer(const Candidates& candidates, QueryWords* words,
                                 Evaluation* evaluation, HitCollector* hits)
    : candidates_(candidates),
      words_(words),
      evaluation_(evaluation),
      hits_(hits),
      space_(evaluation->space()),
      kernels_(Kernels()) {}

void CandidateScorer::Run() {
  const size_t count = candidates_.count();
  if (count == 0) return;
  words_->DropSparseScoring();
  BoundCandidates();
  if (evaluation_->stopped()) return;
  chosen_ = std::make_unique_for_overwrite<uint32_t[]>(count + kKernelRoom);
  chosen_units_ = std::make_unique_for_overwrite<ScoreUnits[]>(count + kKernelRoom);
  ScoreUnits cut = 0;
  const size_t k = hits_->queue().k();
  const size_t wanted = std::max(kBestFirstMin, k + k / 2);
  if (count > 2 * wanted && !hits_->checks_all()) {
    const ScoreUnits most = *std::max_element(bounds_.get(), bounds_.get() + count);
    cut = CutForBest<ScoreUnits>({bounds_.get(), count}, most, wanted);
  }
  ScoreBetween(cut, UINT32_MAX);
  if (cut > 0 && !evaluation_->stopped()) ScoreBetween(0, cut);
}

void CandidateScorer::BoundCandidates() {
  const size_t count = candidates_.count();
  bounds_ = std::make_unique_for_overwrite<ScoreUnits[]>(count);
  std::copy_n(candidates_.units(), count, bounds_.get());
  for (const WordList* list : words_->scoring()) {
    kernels_.add_block_units(list->dense().maxima, list->weight(), candidates_.ordinals(), count,
                             bounds_.get());
    if (evaluation_->ShouldStop(static_cast<uint32_t>(count / 16))) return;
  }
  if (space_.static_rank_units_max == 0) return;
  for (size_t i = 0; i < count; ++i) {
    bounds_[i] += space_.static_rank_maxima[candidates_.ordinals()[i] / kDocumentBlockSize];
  }
}

void CandidateScorer::ScoreBetween(ScoreUnits least, ScoreUnits end) {
  // Candidates that are left out may match, and only checked ones are counted.
  if (hits_->checks() && hits_->least() > least) hits_->NotePruned();
  const size_t count =
      kernels_.choose(bounds_.get(), {.least = std::max(least, hits_->least()), .end = end},
                      {.ordinals = candidates_.ordinals(),
                       .units = candidates_.units(),
                       .count = candidates_.count()},
                      chosen_.get(), chosen_units_.get());
  for (const WordList* list : words_->scoring()) {
    kernels_.add_units_of(list->dense(), list->weight(), chosen_.get(), count, chosen_units_.get());
    // The documents cannot be compared with others without the units of all lists.
    if (evaluation_->ShouldStop(static_cast<uint32_t>(count))) return;
  }
  for (size_t i = 0; i < count; ++i) {
    hits_->Offer(chosen_[i], uint64_t{chosen_units_[i]} + space_.StaticRankUnits(chosen_[i]));
  }
  hits_->CheckPending();
}

}  // namespace search::index
