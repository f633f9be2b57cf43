// Evaluates runs: the mean of each measure over the queries that have a relevant document, with its
// confidence interval, for one run or for the difference between two.
//
// Source: metrics.h, bootstrap.h.
// Threads: pure functions.
// Departs from source: trec_eval averages over the queries that a run answers; here a query without
//   an answer counts 0 for every measure.

#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tools/evaluate/bootstrap.h"
#include "tools/evaluate/judged_queries.h"
#include "tools/evaluate/run_file.h"

namespace search::tools {

inline constexpr size_t kMeasureCount = 5;
inline constexpr std::array<const char*, kMeasureCount> kMeasureNames = {
    "nDCG@10", "MAP", "MRR", "recall@100", "recall@1000"};

struct Evaluation {
  size_t query_count = 0;  // queries with a relevant document
  std::array<Estimate, kMeasureCount> measures;
};

Evaluation Evaluate(const RankedLists& run, const JudgmentsByQuery& judgments, uint64_t seed);
// Differences b - a, query by query.
Evaluation Compare(const RankedLists& a, const RankedLists& b, const JudgmentsByQuery& judgments,
                   uint64_t seed);

}  // namespace search::tools
