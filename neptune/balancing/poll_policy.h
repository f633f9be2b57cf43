// The policy poll: asks a few random candidates for their load index and takes the least loaded one
// that answers.
//
// Source: [Shen02] 3.2.3, 3.3.2 (slow polls are discarded).
// Threads: the loop's own; Choose parks until an answer decides.

#pragma once

#include <functional>
#include <map>
#include <vector>

#include "neptune/balancing/load_polling.h"
#include "neptune/balancing/replica_policy.h"
#include "neptune/base/metrics.h"

namespace neptune {

class PollPolicy final : public ReplicaPolicy {
 public:
  struct Parts {
    Loop& loop;
    PollingAgent& polling;
    // Called with the call endpoint of a server that leaves polls without answers; may be null.
    std::function<void(const Endpoint&)> doubt;
    // Counts polls that ended before all had answered or one was idle; may be null.
    Counter* slow_polls = nullptr;
  };
  PollPolicy(const PollingOptions& options, const Parts& parts)
      : options_(options), parts_(parts) {}

  ReplicaChoice Choose(const ReplicaQuestion& question) override;
  void SetView(const YellowPageView& view) override;

 private:
  // The servers of one poll. The view may change while the poll waits, so names are kept instead of
  // references.
  struct Targets {
    std::vector<size_t> replicas;
    std::vector<NodeId> nodes;
    std::vector<Endpoint> polled;
    std::vector<Endpoint> called;
  };
  // Candidates without those that have left many polls unanswered, most of the time.
  std::vector<size_t> Eligible(const ReplicaQuestion& question);
  Targets Draw(const ReplicaQuestion& question, const std::vector<size_t>& eligible);
  void NoteSilence(const Targets& targets, const PollOutcome& outcome);

  const PollingOptions options_;
  const Parts parts_;
  // Consecutive missed polls while another replica answered; only for nodes in the view.
  std::map<NodeId, int> missed_polls_;
};

}  // namespace neptune
