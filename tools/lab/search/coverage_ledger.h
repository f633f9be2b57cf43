// Checks whether the answers of a search state correctly which partitions contributed, by
// comparison with the answers of the single partitions, which are queried here without a cluster.
//
//   answer: total 812, partition 2 missing   ─┐
//   partitions 0, 1, 3 alone: 250 + 301 + 261 ─┴► correct, unless it has results of partition 2
//
// Threads: thread-compatible.
// Limits: if a partition stopped its search early, the total of the answer is too small, and only
//   its results are checked.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "tools/lab/workloads/synthetic_index.h"

namespace search::lab {

// The statements of an answer about itself. Partitions are bits.
struct CoverageClaim {
  uint32_t missing = 0;
  uint32_t results_from = 0;
  uint64_t total = 0;
  uint64_t index_version = 0;
  std::string results;  // the contents of all results, in order
  bool searched_to_the_end = true;
  bool partial = false;  // tiers or documents are missing
  bool relaxed = false;  // nothing has all that is asked; the results have some of its words
};

// Returns nullopt if `json` is not an answer of a frontend with a synthetic index.
std::optional<CoverageClaim> ReadCoverageClaim(std::string_view json);

class CoverageLedger {
 public:
  static neptune::StatusOr<CoverageLedger> Open(const SyntheticIndex& index);

  // Queries each partition the first time that `question` is given.
  neptune::StatusOr<bool> IsTrue(const std::string& question, const CoverageClaim& claim);

 private:
  explicit CoverageLedger(MadeTiers tiers) : tiers_(std::move(tiers)) {}
  // Matches of the question in the partitions that are not missing.
  neptune::StatusOr<uint64_t> TotalOf(const std::string& question, uint32_t missing);
  neptune::StatusOr<std::vector<uint64_t>> TotalsOf(const std::string& question);

  MadeTiers tiers_;
  std::map<std::string, std::vector<uint64_t>> totals_;  // of each partition, by question
};

}  // namespace search::lab
