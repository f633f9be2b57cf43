// One question to all partitions of both index tiers at the same time.
//
// Source: [Chu03] 3.3; design 5.
// Threads: on a user-level thread; one more for tier 2.
// Limits: the deadline, and 5 ms to hand over what was there by then.

#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "frontend/search_plan/plan_options.h"
#include "neptune/service/client.h"

namespace search::frontend {

struct TierCall {
  const char* local = nullptr;  // names of the operators
  const char* reduce = nullptr;
  neptune::Data parameters;
  neptune::TimePoint deadline;
};

struct TierReplies {
  std::vector<neptune::Data> results;  // of the tiers that answered
  // True if every partition of both tiers contributed, or offers nothing of the kind (UNIMPLEMENTED).
  bool is_complete = false;
};

TierReplies AskBothTiers(const neptune::ClientSession& session, const TierCall& call,
                         const SearchPlanOptions& options);

// The joined answer of the replies; nothing if there is none.
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
