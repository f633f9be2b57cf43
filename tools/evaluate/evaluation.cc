#include "tools/evaluate/evaluation.h"

#include <utility>
#include <vector>

namespace search::tools {
namespace {

using Measures = std::array<double, kMeasureCount>;

Measures Judge(const RankedLists& run, const std::string& query, const Judgments& judgments) {
  const auto entries = run.find(query);
  if (entries == run.end()) return {};
  const std::vector<std::string> ranked = DocumentsInOrder(entries->second);
  return {NdcgAt(10, ranked, judgments), AveragePrecision(ranked, judgments),
          ReciprocalRank(ranked, judgments), RecallAt(100, ranked, judgments),
          RecallAt(1000, ranked, judgments)};
}

template <typename Value>
Evaluation EvaluateEach(const JudgmentsByQuery& judgments, uint64_t seed, const Value& value) {
  std::array<std::vector<double>, kMeasureCount> values;
  for (const auto& [query, judged] : judgments) {
    if (RelevantCount(judged) == 0) continue;
    const Measures measures = value(query, judged);
    for (size_t i = 0; i < kMeasureCount; ++i) values[i].push_back(measures[i]);
  }
  Evaluation evaluation;
  evaluation.query_count = values[0].size();
  for (size_t i = 0; i < kMeasureCount; ++i) {
    evaluation.measures[i] = EstimateMean(values[i], seed);
  }
  return evaluation;
}

}  // namespace

Evaluation Evaluate(const RankedLists& run, const JudgmentsByQuery& judgments, uint64_t seed) {
  return EvaluateEach(judgments, seed, [&](const std::string& query, const Judgments& judged) {
    return Judge(run, query, judged);
  });
}

Evaluation Compare(const RankedLists& a, const RankedLists& b, const JudgmentsByQuery& judgments,
                   uint64_t seed) {
  return EvaluateEach(judgments, seed, [&](const std::string& query, const Judgments& judged) {
    const Measures of_a = Judge(a, query, judged);
    Measures difference = Judge(b, query, judged);
    for (size_t i = 0; i < kMeasureCount; ++i) difference[i] -= of_a[i];
    return difference;
  });
}

}  // namespace search::tools
