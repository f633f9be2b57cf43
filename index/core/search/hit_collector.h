// Receives scored documents of a flat query and passes the matching ones on to the top k: at once,
// or after their phrases were checked if the query has phrases, among all words or alternatives.
//
//   Offer ──▶ no phrases ──────────────────────────────────────────────────────▶ TopKQueue
//         └─▶ pending ── CheckPending ──▶ PhraseGroup ──▶ AlternativesCheck ──▶ TopKQueue
//
// Threads: thread-compatible; lives for one search.
// Limits: 12 bytes per document whose phrases are still to be checked.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "index/core/search/alternatives_check.h"
#include "index/core/search/phrase_group.h"
#include "index/core/search/query_words.h"
#include "index/core/search/ranking_outcome.h"
#include "index/core/search/top_k_queue.h"

namespace search::index {

class HitCollector {
 public:
  // `checks_all`: checks the phrases of every offered document, so that RankingOutcome::matched is
  // exact. REQUIRES: not checks_all if the query has no phrase.
  HitCollector(PhraseGroup phrases, AlternativesCheck alternatives, bool checks_all,
               Evaluation* evaluation, TopKQueue* queue)
      : phrases_(std::move(phrases)),
        alternatives_(std::move(alternatives)),
        checks_all_(checks_all),
        evaluation_(evaluation),
        queue_(queue) {}

  // True if the query has a phrase that every matching document holds.
  bool has_phrases() const { return !phrases_.empty(); }
  // True if phrases decide which of the offered documents match.
  bool checks() const { return !phrases_.empty() || !alternatives_.empty(); }
  bool checks_all() const { return checks_all_; }
  TopKQueue& queue() { return *queue_; }

  // Documents with fewer units need not be offered.
  ScoreUnits least() const { return checks_all_ ? 0 : queue_->required(); }

  // Counts documents that hold the query's words; without effect if phrases decide what matches.
  void CountMatches(uint64_t count) {
    if (!checks()) outcome_.matched += count;
  }
  // Records that documents that cannot enter the top k may have been left out.
  void NotePruned() { outcome_.pruned = true; }

  void Offer(uint32_t ordinal, uint64_t units) {
    if (checks()) {
      if (checks_all_ || queue_->CanEnter(units)) {
        pending_.push_back({static_cast<ScoreUnits>(units), ordinal, false});
      } else {
        outcome_.pruned = true;
      }
    } else if (queue_->CanEnter(units)) {
      queue_->Offer(ordinal, static_cast<ScoreUnits>(units));
    }
  }

  // Checks the phrases of the documents offered since the last call.
  void CheckPending();

  const RankingOutcome& outcome() const { return outcome_; }

 private:
  struct Pending {
    ScoreUnits units;
    uint32_t ordinal;
    bool is_checked;
  };

  void CheckBest(size_t limit);
  void CheckGroup(std::span<const Pending> group);

  PhraseGroup phrases_;
  AlternativesCheck alternatives_;
  const bool checks_all_;
  Evaluation* evaluation_;
  TopKQueue* queue_;
  RankingOutcome outcome_;
  std::vector<Pending> pending_;
  uint64_t checked_ = 0;  // documents checked so far
};

}  // namespace search::index
