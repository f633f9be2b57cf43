// Asks the tiers for parts of an answer that are given if asked for: counts of all matches by site,
// and how the scores of the page came about. Both tiers are always asked, because any partition may
// hold the documents.
//
// Source: [Chu03] 3.3.
// Threads: on user-level threads of the node.
// Limits: the time that the caller allows.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontend/model/answer.h"
#include "frontend/policy/plan_options.h"
#include "index/core/query/scoring_words.h"
#include "neptune/service/client.h"

namespace search::frontend {

struct DetailQuestion {
  std::string canonical;
  uint64_t index_version = 0;  // 0: the current one
};

// Counts by site in progress, while the search goes on.
class SiteCounting {
 public:
  // Asks from another thread, which may outlive the object; from this one if there can be no other.
  static SiteCounting Start(const neptune::ClientSession& session, const DetailQuestion& question,
                            const SearchPlanOptions& options, neptune::TimePoint deadline);

  // Waits for the counts, at most until the deadline.
  SiteFacets Await();

 private:
  struct Call;
  explicit SiteCounting(std::shared_ptr<Call> call) : call_(std::move(call)) {}

  std::shared_ptr<Call> call_;
};

// Adds explanations to the results of the answer, as far as there are some by the deadline; `words`
// are those of the query.
void ExplainResults(const neptune::ClientSession& session, const DetailQuestion& question,
                    const SearchPlanOptions& options, neptune::TimePoint deadline,
                    const std::vector<index::ScoringWord>& words, SearchAnswer* answer);

}  // namespace search::frontend
