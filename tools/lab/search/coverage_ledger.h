// Whether answers of a search say truly which partitions are in them, by what those partitions say when they are asked
// alone, here, without any cluster.
//
//   answer: total 812, partition 2 missing   ─┐
//   partitions 0, 1, 3 alone: 250 + 301 + 261 ─┴► true; results of partition 2 would make it false too
//
// Threads: thread-compatible.
// Limits: an answer that some partition gave before it had searched to the end counts less than there is: of such a one
//   only the results are looked at.

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

// What an answer says of itself. Partitions are bits.
struct CoverageClaim {
  uint32_t missing = 0;
  uint32_t results_from = 0;
  uint64_t total = 0;
  uint64_t index_version = 0;
  std::string results;  // what is shown of each, in order
  bool searched_to_the_end = true;
  bool partial = false;  // of tiers or of documents
};

// Nothing if `json` is no answer of a frontend over a made index.
std::optional<CoverageClaim> ReadCoverageClaim(std::string_view json);

class CoverageLedger {
 public:
  static neptune::StatusOr<CoverageLedger> Open(const SyntheticIndex& index);

  // Asks each partition for a question that it was not asked for before.
  neptune::StatusOr<bool> IsTrue(const std::string& question, const CoverageClaim& claim);

 private:
  explicit CoverageLedger(MadeTiers tiers) : tiers_(std::move(tiers)) {}
  neptune::StatusOr<std::vector<uint64_t>> TotalsOf(const std::string& question);

  MadeTiers tiers_;
  std::map<std::string, std::vector<uint64_t>> totals_;  // of each partition
};

}  // namespace search::lab
