#include "index/core/search/block_ranker.h"

#include <algorithm>
#include <vector>

#include "index/core/search/block_scorer.h"
#include "index/core/search/candidate_scorer.h"

namespace search::index {
namespace {

// Maximal number of lists whose documents are merged sequentially.
constexpr size_t kMergedListsMax = 8;

}  // namespace

BlockRanker::BlockRanker(const FlatPlan& plan, bool count_exactly, Evaluation* evaluation,
                         TopKQueue* queue)
    : evaluation_(evaluation),
      words_(plan, /*scores=*/queue->k() > 0, evaluation),
      hits_(PhraseGroup(plan, &words_, evaluation), AlternativesCheck(plan, &words_, evaluation),
            count_exactly && !plan.phrases.empty(), evaluation, queue),
      candidates_(evaluation) {}

RankingOutcome BlockRanker::Run() {
  if (words_.rarest_is_sparse()) {
    WordList* const rarest = words_.required()[0];
    rarest->Decode();
    RaiseBar();
    candidates_.Add(*rarest);
    RankCandidates();
    return hits_.outcome();
  }
  QueryWords::Decode(words_.alternatives());
  RaiseBar();
  if (words_.required().empty() && CollectEssential()) {
    RankCandidates();
  } else {
    RankBlocks();
  }
  return hits_.outcome();
}

void BlockRanker::RaiseBar() {
  TopKQueue& queue = hits_.queue();
  if (queue.k() > 0 && !hits_.has_phrases()) queue.RaiseBar(words_.KnownBar(queue.k()));
}

// Makes the documents of the essential alternatives candidates. Returns false if blocks are cheaper
// because a list is dense or there are many.
bool BlockRanker::CollectEssential() {
  const std::vector<WordList*> essential = words_.EssentialAlternatives(hits_.queue());
  const auto is_dense = [](const WordList* list) { return list->is_dense(); };
  if (essential.size() > kMergedListsMax ||
      std::any_of(essential.begin(), essential.end(), is_dense)) {
    return false;
  }
  if (essential.size() < words_.alternatives().size()) hits_.NotePruned();
  for (const WordList* list : essential) candidates_.Add(*list);
  words_.MakeOptionalExcept(essential);
  return true;
}

void BlockRanker::RankCandidates() {
  candidates_.Filter(words_);
  candidates_.AddSparseUnits(words_.optional());
  hits_.CountMatches(candidates_.count());
  if (evaluation_->stopped()) return;
  CandidateScorer(candidates_, &words_, evaluation_, &hits_).Run();
}

void BlockRanker::RankBlocks() {
  QueryWords::Decode(words_.optional());
  QueryWords::Decode(words_.excluded());
  words_.OrderScoring();
  if (evaluation_->stopped()) return;
  BlockScorer(&words_, evaluation_, &hits_).Run();
}

}  // namespace search::index
