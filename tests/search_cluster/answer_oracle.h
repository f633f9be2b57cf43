// Computes the correct answer from one index over all documents.
//
// An answer may be partial, but then it must say so, and it must be exactly what the partitions
// that it names would give: the oracle takes the answer's own claim of which partitions are
// missing, filters the single index's complete answer by it, and compares numbers, order, scores
// and totals. It knows nothing of the plan's policy: a tier that was not asked must not change the
// page. The test compares the claim itself with a ledger of its own.
//
// Threads: thread-compatible.

#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "frontend/model/answer.h"
#include "index/tier/index_tier.h"
#include "tests/search_cluster/small_index.h"

namespace search::tests {

// Partitions that do not answer.
struct MissingSet {
  std::set<uint32_t> tier1;
  std::set<uint32_t> tier2;
  std::set<uint32_t> documents;

  bool operator==(const MissingSet&) const = default;
};

// "tier1 0 2, tier2 -, documents 1".
std::string ToString(const MissingSet& missing);

// The partitions that the answer reports as missing.
MissingSet ClaimedMissing(const frontend::SearchAnswer& answer);

class AnswerOracle {
 public:
  // Opens the single index below `folder`.
  static neptune::StatusOr<std::unique_ptr<AnswerOracle>> Open(const std::string& folder,
                                                               const SmallCorpus& corpus,
                                                               const Placement& placement);

  // Returns an empty string if the answer equals that of the partitions it claims, else the error.
  std::string Check(const frontend::SearchAnswer& answer) const;

  // The partitions missing by the ledger that this answer must report. An answer cannot miss
  // services that it did not need to ask.
  MissingSet MustClaim(const frontend::SearchAnswer& answer, const MissingSet& ledger) const;

  // All matching documents of the single index, best first; `is_relaxed`: of what Relax makes of
  // the query.
  neptune::StatusOr<index::TierAnswer> SearchAll(const std::string& query,
                                                 bool is_relaxed = false) const;

 private:
  AnswerOracle(const SmallCorpus& corpus, const Placement& placement)
      : corpus_(corpus), placement_(placement) {}

  struct Expected {
    std::vector<index::TierHit> hits;  // hits of the page
    // Matching documents in the partitions that are not missing.
    uint64_t total = 0;
    uint64_t tier1_total = 0;
  };
  Expected Expect(const frontend::SearchAnswer& answer, const index::TierAnswer& all) const;
  // The error if the answer was relaxed although documents meet the demands of its query.
  std::string CheckRelaxed(const frontend::SearchAnswer& answer) const;
  static std::string CheckTotal(const frontend::SearchAnswer& answer, const Expected& expected,
                                bool some_are_missing);
  std::string CheckResult(const frontend::SearchResult& result, const index::TierHit& hit,
                          const MissingSet& missing) const;

  const SmallCorpus& corpus_;
  const Placement& placement_;
  std::unique_ptr<index::IndexTier> single_;
};

}  // namespace search::tests
