#include "frontend/suggest/both_tiers.h"

#include <algorithm>
#include <memory>
#include <string>

#include "index/tier/tier_service.h"
#include "neptune/dac/dac.h"
#include "neptune/thread/synchronization.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {
namespace {

using neptune::Status;

// Time after an aggregation's deadline by which its result has been delivered.
constexpr neptune::Duration kDeadlineSlack = std::chrono::milliseconds(5);

struct TierTarget {
  const char* service = nullptr;
  uint32_t partition_count = 0;
};

struct TierReply {
  Status status;
  neptune::Data result;
  bool is_complete = false;
};

TierReply AskTier(neptune::ClientSession session, const TierTarget& tier, const TierCall& call,
                  double quality_min) {
  TierReply reply;
  neptune::AggregationRequest request;
  request.service = neptune::ServiceName(tier.service);
  for (uint32_t p = 0; p < tier.partition_count; ++p) request.partitions.emplace_back(p);
  request.local = neptune::MethodName(call.local);
  request.reduce = neptune::MethodName(call.reduce);
  request.local_parameters = call.parameters;
  request.reduce_parameters = call.parameters;
  request.aggregation_quality_min = quality_min;
  request.deadline = call.deadline;
  neptune::AggregationReport report;
  if (neptune::this_thread::Now() >= call.deadline) {
    reply.status = neptune::DeadlineExceeded("no time is left for ", tier.service);
    return reply;
  }
  reply.status = neptune::Aggregate(session, request, &reply.result, &report);
  // A tier of which no partition implements suggestions counts as complete.
  const bool is_not_offered =
      !report.missing.empty() &&
      std::all_of(report.missing.begin(), report.missing.end(), [](const auto& missing) {
        return missing.reason.code() == neptune::StatusCode::kUnimplemented;
      });
  reply.is_complete = is_not_offered || (reply.status.ok() && report.missing.empty());
  return reply;
}

// Shared with the thread that asks tier 2, which may outlive the call.
struct Tier2Call {
  TierReply reply;
  neptune::OneShotEvent done;
};

}  // namespace

TierReplies AskBothTiers(const neptune::ClientSession& session, const TierCall& call,
                         const SearchPlanOptions& options) {
  TierReplies replies;
  replies.is_complete = true;
  const auto take = [&](TierReply reply) {
    replies.is_complete &= reply.is_complete;
    if (reply.status.ok()) replies.results.push_back(std::move(reply.result));
  };
  std::shared_ptr<Tier2Call> second;
  if (options.tier2_partitions > 0) {
    second = std::make_shared<Tier2Call>();
    const auto asking = neptune::ThreadScheduler::Current()->Spawn(
        [second, session, call, count = options.tier2_partitions,
         quality_min = options.quality_min] {
          second->reply = AskTier(session, {index::kTier2Service, count}, call, quality_min);
          second->done.Set();
        },
        "suggest tier 2");
    if (!asking.ok()) {
      second.reset();
      replies.is_complete = false;
    }
  }
  take(AskTier(session, {index::kTier1Service, options.tier1_partitions}, call,
               options.quality_min));
  if (second == nullptr) return replies;
  if (second->done.Wait(call.deadline + kDeadlineSlack) == neptune::ParkResult::kWoken) {
    take(std::move(second->reply));
  } else {
    replies.is_complete = false;
  }
  return replies;
}

}  // namespace search::frontend
