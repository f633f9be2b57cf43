#include "neptune/balancing/poll_policy.h"

#include <algorithm>

#include "neptune/balancing/replica_choice.h"

namespace neptune {
namespace {

// A server that missed this many polls in a row is polled only occasionally, so that the others do
// not wait for it each time until the yellow page removes it.
constexpr int kMissedPollsMax = 3;
constexpr uint64_t kPollSilentOneIn = 16;

}  // namespace

std::vector<size_t> PollPolicy::Eligible(const ReplicaQuestion& question) {
  std::vector<size_t> eligible;
  eligible.reserve(question.candidates.size());
  for (const size_t i : question.candidates) {
    const auto missed = missed_polls_.find(question.replicas[i].node);
    const bool silent = missed != missed_polls_.end() && missed->second >= kMissedPollsMax;
    if (!silent || parts_.loop.random().Below(kPollSilentOneIn) == 0) eligible.push_back(i);
  }
  return eligible;
}

PollPolicy::Targets PollPolicy::Draw(const ReplicaQuestion& question,
                                     const std::vector<size_t>& eligible) {
  Targets targets;
  for (const size_t i :
       ChoosePollTargets(eligible.size(), options_.poll_size, parts_.loop.random())) {
    const Replica& replica = question.replicas[eligible[i]];
    targets.replicas.push_back(eligible[i]);
    targets.nodes.push_back(replica.node);
    targets.polled.push_back(replica.probe_endpoint);
    targets.called.push_back(replica.call_endpoint);
  }
  return targets;
}

ReplicaChoice PollPolicy::Choose(const ReplicaQuestion& question) {
  const std::vector<size_t> eligible = Eligible(question);
  if (eligible.empty()) return RandomCandidate(question, parts_.loop.random());
  if (eligible.size() == 1) return {eligible[0]};
  const Targets targets = Draw(question, eligible);
  const TimePoint discard = AddSaturated(parts_.loop.Now(), options_.discard_after);
  const PollOutcome outcome = parts_.polling.Poll(
      targets.polled, std::min(question.deadline, discard), options_.stop_at_idle);
  if (outcome.timed_out && parts_.slow_polls != nullptr) parts_.slow_polls->Increment();
  if (!outcome.best) return {targets.replicas[0]};
  NoteSilence(targets, outcome);
  return {targets.replicas[*outcome.best]};
}

void PollPolicy::NoteSilence(const Targets& targets, const PollOutcome& outcome) {
  for (size_t i = 0; i < targets.nodes.size(); ++i) {
    if (outcome.answered[i]) {
      missed_polls_.erase(targets.nodes[i]);
    } else if (parts_.doubt &&
               (outcome.refused[i] ||
                (outcome.timed_out && ++missed_polls_[targets.nodes[i]] >= kMissedPollsMax))) {
      parts_.doubt(targets.called[i]);
    }
  }
}

void PollPolicy::SetView(const YellowPageView& view) {
  std::erase_if(missed_polls_,
                [&](const auto& missed) { return view.Find(missed.first) == nullptr; });
}

}  // namespace neptune
