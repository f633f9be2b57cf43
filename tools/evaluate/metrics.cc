#include "tools/evaluate/metrics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_set>

namespace search::tools {
namespace {

double Discounted(int grade, size_t rank) {
  return grade / std::log2(static_cast<double>(rank) + 1);
}

// Calls use(rank, grade) for each relevant document of the first `depth`, at its first rank.
template <typename Use>
void ForEachRelevant(size_t depth, const std::vector<std::string>& ranked,
                     const Judgments& judgments, const Use& use) {
  std::unordered_set<std::string> seen;
  for (size_t i = 0; i < std::min(depth, ranked.size()); ++i) {
    const auto judged = judgments.find(ranked[i]);
    if (judged == judgments.end() || judged->second < 1) continue;
    if (seen.insert(ranked[i]).second) use(i + 1, judged->second);
  }
}

double IdealGain(size_t depth, const Judgments& judgments) {
  std::vector<int> grades;
  for (const auto& [document, grade] : judgments) {
    if (grade > 0) grades.push_back(grade);
  }
  std::sort(grades.begin(), grades.end(), std::greater<>());
  double gain = 0;
  for (size_t i = 0; i < std::min(depth, grades.size()); ++i) gain += Discounted(grades[i], i + 1);
  return gain;
}

}  // namespace

size_t RelevantCount(const Judgments& judgments) {
  return static_cast<size_t>(std::count_if(judgments.begin(), judgments.end(),
                                           [](const auto& judged) { return judged.second > 0; }));
}

double NdcgAt(size_t depth, const std::vector<std::string>& ranked, const Judgments& judgments) {
  const double ideal = IdealGain(depth, judgments);
  if (ideal == 0) return 0;
  double gain = 0;
  ForEachRelevant(depth, ranked, judgments,
                  [&](size_t rank, int grade) { gain += Discounted(grade, rank); });
  return std::min(1.0, gain / ideal);
}

double AveragePrecision(const std::vector<std::string>& ranked, const Judgments& judgments) {
  const size_t relevant = RelevantCount(judgments);
  if (relevant == 0) return 0;
  double sum = 0;
  size_t found = 0;
  ForEachRelevant(ranked.size(), ranked, judgments, [&](size_t rank, int) {
    sum += static_cast<double>(++found) / static_cast<double>(rank);
  });
  return sum / static_cast<double>(relevant);
}

double ReciprocalRank(const std::vector<std::string>& ranked, const Judgments& judgments) {
  double reciprocal = 0;
  ForEachRelevant(ranked.size(), ranked, judgments, [&](size_t rank, int) {
    if (reciprocal == 0) reciprocal = 1 / static_cast<double>(rank);
  });
  return reciprocal;
}

double RecallAt(size_t depth, const std::vector<std::string>& ranked, const Judgments& judgments) {
  const size_t relevant = RelevantCount(judgments);
  if (relevant == 0) return 0;
  size_t found = 0;
  ForEachRelevant(depth, ranked, judgments, [&](size_t, int) { ++found; });
  return static_cast<double>(found) / static_cast<double>(relevant);
}

}  // namespace search::tools
