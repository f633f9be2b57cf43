// Sends one query to all partitions of both index tiers in parallel.
//
// Source: [Chu03] 3.3.
// Threads: on a user-level thread; one more for tier 2.
// Limits: the deadline plus 5 ms for delivering a result that was complete by then.

#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "frontend/policy/plan_options.h"
#include "neptune/service/client.h"

namespace search::frontend {

struct TierCall {
  const char* local = nullptr;  // names of the operators
  const char* reduce = nullptr;
  neptune::Data parameters;
  neptune::TimePoint deadline;
};

struct TierReplies {
  std::vector<neptune::Data> results;  // one for each tier that answered
  // True if every partition of both tiers contributed or does not implement the method.
  bool is_complete = false;
};

TierReplies AskBothTiers(const neptune::ClientSession& session, const TierCall& call,
                         const SearchPlanOptions& options);

// Joins the replies into one answer; nullopt if there is none.
template <typename Answer, typename Join>
std::optional<Answer> JoinReplies(const TierReplies& replies, const Join& join) {
  std::optional<Answer> joined;
  for (const neptune::Data& result : replies.results) {
    const auto answer = result.As<Answer>();
    if (!answer.ok()) continue;
    joined = joined ? join(*joined, **answer) : **answer;
  }
  return joined;
}

}  // namespace search::frontend
