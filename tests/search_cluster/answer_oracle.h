// What a right answer looks like, worked out from one index over all documents.
//
// An answer may be partial, but then it must say so, and it must be exactly what the partitions that
// it names would give: the oracle takes the answer's own claim of which partitions contributed,
// filters the single index's complete answer by it, and compares numbers, order, scores and totals.
// Whether the claim itself is true is compared with a ledger that the test keeps.
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

// Those that the answer says are missing.
MissingSet ClaimedMissing(const frontend::SearchAnswer& answer);

class AnswerOracle {
 public:
  // Opens the single index below `folder`. `good_hits_min` is the plan's tier1_good_hits_min.
  static neptune::StatusOr<std::unique_ptr<AnswerOracle>> Open(const std::string& folder,
                                                               const SmallCorpus& corpus,
                                                               const Placement& placement,
                                                               uint32_t good_hits_min);

  // Empty if the answer is what the partitions it claims give; else what is wrong.
  std::string Check(const frontend::SearchAnswer& answer) const;

  // Of the partitions that are missing by the ledger, those that this answer must claim: what it did
  // not need to ask it cannot miss.
  MissingSet MustClaim(const frontend::SearchAnswer& answer, const MissingSet& ledger) const;

  // All matching documents, best first, as the single index answers.
  neptune::StatusOr<index::TierAnswer> SearchAll(const std::string& query) const;

 private:
  AnswerOracle(const SmallCorpus& corpus, const Placement& placement, uint32_t good_hits_min)
      : corpus_(corpus), placement_(placement), good_hits_min_(good_hits_min) {}

  struct Expected {
    std::vector<index::TierHit> hits;  // of the page
    uint64_t total = 0;
    bool tier2_asked = false;
  };
  Expected Expect(const frontend::SearchAnswer& answer, const index::TierAnswer& all) const;
  std::string CheckResult(const frontend::SearchResult& result, const index::TierHit& hit,
                          const MissingSet& missing) const;

  const SmallCorpus& corpus_;
  const Placement& placement_;
  const uint32_t good_hits_min_;
  std::unique_ptr<index::IndexTier> single_;
};

}  // namespace search::tests
