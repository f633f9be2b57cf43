// An index of two tiers in one process: what a rule for asking tier 2 costs, and whether its pages
// are those of a single index.
//
// Writes files below a temporary folder, which is removed with the object.
// Threads: thread-compatible.
// Errors: those of the builders, and of opening an index.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/tier/index_tier.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::lab {

// When tier 2 is asked.
enum class TierRule {
  kAlways,   // the page of a single index
  kTenHits,  // unless tier 1 has ten hits, whatever their scores
  kSafe,     // unless it provably cannot change the page
  kQuality,  // unless seven of the ten results are provably those of a single index
};

struct RuleOutcome {
  uint64_t query_count = 0;
  uint64_t skip_count = 0;   // tier 2 was not asked
  uint64_t same_count = 0;   // the first page is that of a single index
  uint64_t false_count = 0;  // a result was said to be sure and is another one
  // The page of tier 1 alone is that of a single index: no rule can skip more without changing one.
  uint64_t unchanged_count = 0;
  // The safe rule would skip if it knew the best first-phase score of tier 2 instead of a bound.
  uint64_t exact_count = 0;
  neptune::Duration processor_time{0};
};

class TieredIndex {
 public:
  // Made documents of falling static rank, a quarter of them in tier 1.
  static neptune::StatusOr<std::unique_ptr<TieredIndex>> Make(size_t document_count);
  // Opens FOLDER/tier1/P and FOLDER/tier2/P of tools/build_index.
  static neptune::StatusOr<std::unique_ptr<TieredIndex>> Open(const std::string& folder);
  ~TieredIndex();
  TieredIndex(const TieredIndex&) = delete;
  TieredIndex& operator=(const TieredIndex&) = delete;

  // Asks each question for its first page under the rule.
  neptune::StatusOr<RuleOutcome> Ask(const std::vector<std::string>& questions,
                                     TierRule rule) const;

  // Share of `questions` whose page has only documents that were on pages of `asked`, if no more
  // of those are kept than tier 1 has documents, the most frequent first: what tier 1 would hold
  // if a log of questions chose it.
  neptune::StatusOr<double> ShareOfAsked(const std::vector<std::string>& asked,
                                         const std::vector<std::string>& questions) const;

 private:
  using Tier = std::vector<std::unique_ptr<index::IndexTier>>;

  TieredIndex() = default;
  neptune::Status OpenTiers(const std::string& folder);
  neptune::Status AskOne(const std::string& question, TierRule rule, RuleOutcome* outcome) const;
  // Documents on the first page of a single index.
  neptune::StatusOr<std::vector<uint64_t>> Page(const std::string& question) const;
  uint64_t Tier1Size() const;

  std::string made_folder_;  // empty: nothing was made
  Tier tier1_;
  Tier tier2_;
};

}  // namespace search::lab
