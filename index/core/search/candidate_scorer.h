// Scores candidate documents: adds the bounds of their blocks first, then scores the documents with
// the best bounds, then the others that can still enter the top k.
//
// Source: candidates by block bounds [Dimopoulos13] [Mallia21].
// Departs from source: the best-bounded candidates are scored first, in the order of documents.
// Threads: thread-compatible; lives for one search.
// Limits: 12 bytes per candidate.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "index/core/search/candidates.h"
#include "index/core/search/hit_collector.h"
#include "index/core/search/query_words.h"

namespace search::index {

class CandidateScorer {
 public:
  // `candidates` have the units of all lists that are not dense.
  CandidateScorer(const Candidates& candidates, QueryWords* words, Evaluation* evaluation,
                  HitCollector* hits);

  // Offers each candidate that can enter the top k.
  void Run();

 private:
  void BoundCandidates();
  // Scores the candidates with least <= bound < end.
  void ScoreBetween(ScoreUnits least, ScoreUnits end);

  const Candidates& candidates_;
  QueryWords* words_;
  Evaluation* evaluation_;
  HitCollector* hits_;
  const SearchSpace& space_;
  const BlockKernels& kernels_;
  std::unique_ptr<ScoreUnits[]> bounds_;
  // The candidates being scored, with room for kKernelRoom more.
  std::unique_ptr<uint32_t[]> chosen_;
  std::unique_ptr<ScoreUnits[]> chosen_units_;
};

}  // namespace search::index
