// Measures of one ranked list against judgments.
//
// Source: the definitions of trec_eval. Gain is the grade itself, the discount log2(rank + 1), the
//   ideal list orders all judged documents by grade. No I/O.
// Threads: pure functions.
// Shapes: `ranked` is best first; a document in it twice counts at its first rank. A document
//   without judgment, or with a grade below 1, is not relevant.
// Units: all in [0, 1]; 0 if no document is relevant.

#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace search::tools {

// Grade by document id; below 1 is not relevant.
using Judgments = std::unordered_map<std::string, int>;

// Returns the number of documents judged relevant.
size_t RelevantCount(const Judgments& judgments);

double NdcgAt(size_t depth, const std::vector<std::string>& ranked, const Judgments& judgments);
// Computed over the whole list; relevant documents missing from it count with precision 0.
double AveragePrecision(const std::vector<std::string>& ranked, const Judgments& judgments);
double ReciprocalRank(const std::vector<std::string>& ranked, const Judgments& judgments);
double RecallAt(size_t depth, const std::vector<std::string>& ranked, const Judgments& judgments);

}  // namespace search::tools
