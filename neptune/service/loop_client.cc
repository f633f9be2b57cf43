#include "neptune/service/loop_client.h"

#include <algorithm>

namespace neptune {
namespace {

// A server that missed this many polls in a row is polled only now and then, so that the others do
// not wait for it each time until the yellow page forgets it.
constexpr int kMissedPollsMax = 3;
constexpr uint64_t kPollSilentOneIn = 16;

ConnectionCacheOptions WithDoubt(const ClientOptions& options) {
  ConnectionCacheOptions connections = options.connections;
  if (!connections.on_unanswered) connections.on_unanswered = options.doubt;
  return connections;
}

}  // namespace

LoopClient::LoopClient(Loop& loop, const ClientOptions& options)
    : loop_(loop),
      options_(options),
      connections_(loop, WithDoubt(options)),
      view_(std::make_shared<YellowPageView>()) {}

StatusOr<std::unique_ptr<LoopClient>> LoopClient::Open(Loop& loop, const ClientOptions& options) {
  std::unique_ptr<LoopClient> client(new LoopClient(loop, options));
  NEPTUNE_ASSIGN_OR_RETURN(client->polling_, PollingAgent::Open(loop, options.poll_bind));
  return client;
}

size_t LoopClient::Choose(const std::vector<const Replica*>& candidates, TimePoint deadline) {
  if (candidates.size() == 1) return 0;
  switch (options_.policy) {
    case BalancingPolicy::kRandom:
      return loop_.random().Below(candidates.size());
    case BalancingPolicy::kRoundRobin:
      return round_++ % candidates.size();
    case BalancingPolicy::kPoll:
      break;
  }
  return ChooseByPoll(candidates, deadline);
}

size_t LoopClient::ChooseByPoll(const std::vector<const Replica*>& candidates, TimePoint deadline) {
  std::vector<size_t> eligible;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const auto missed = missed_polls_.find(candidates[i]->node);
    const bool silent = missed != missed_polls_.end() && missed->second >= kMissedPollsMax;
    if (!silent || loop_.random().Below(kPollSilentOneIn) == 0) eligible.push_back(i);
  }
  if (eligible.empty()) return loop_.random().Below(candidates.size());
  if (eligible.size() == 1) return eligible[0];
  std::vector<size_t> targets;
  std::vector<Endpoint> endpoints;
  for (const size_t i :
       ChoosePollTargets(eligible.size(), options_.polling.poll_size, loop_.random())) {
    targets.push_back(eligible[i]);
    endpoints.push_back(candidates[eligible[i]]->probe_endpoint);
  }
  const TimePoint discard = AddSaturated(loop_.Now(), options_.polling.discard_after);
  const PollOutcome outcome = polling_->Poll(endpoints, std::min(deadline, discard));
  if (outcome.timed_out && options_.slow_polls != nullptr) options_.slow_polls->Increment();
  if (!outcome.best) return targets[0];
  for (size_t i = 0; i < targets.size(); ++i) {
    const NodeId& node = candidates[targets[i]]->node;
    if (outcome.answered[i]) {
      missed_polls_.erase(node);
    } else if (outcome.timed_out && ++missed_polls_[node] >= kMissedPollsMax && options_.doubt) {
      options_.doubt(candidates[targets[i]]->call_endpoint);
    }
  }
  return targets[*outcome.best];
}

bool LoopClient::FailsTooOften(const Endpoint& to) {
  if (connections_.failure_count(to) < options_.connection_failures_max) return false;
  connections_.ForgetFailures(to);
  return true;
}

void LoopClient::set_view(std::shared_ptr<const YellowPageView> view) {
  view_ = std::move(view);
  std::erase_if(missed_polls_,
                [&](const auto& missed) { return !view_->nodes().contains(missed.first); });
}

}  // namespace neptune
