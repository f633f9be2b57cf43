// The agent of load balancing: one for each loop that makes calls.
//
//   Choose ─► policy ─► the replica to call ─► Answered or Lost, once for each choice
//               ▲
//               └─ polls and probes (load_polling.h), announcements (yellow page), answers of calls
//
// Source: [Shen02] 2.2 (polling agent), 3.2, 3.3; probe_pool.h for the modern policy.
// Threads: the loop's own; Choose on a user-level thread (only poll waits there).

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "neptune/balancing/load_polling.h"
#include "neptune/balancing/probe_pool.h"
#include "neptune/balancing/replica_choice.h"
#include "neptune/balancing/replica_policy.h"
#include "neptune/base/ids.h"
#include "neptune/base/metrics.h"
#include "neptune/membership/service_yellow_page.h"

namespace neptune {

struct BalancingOptions {
  BalancingPolicy policy = BalancingPolicy::kPoll;
  PollingOptions polling;
  ProbePoolOptions probing;
  // Makes the policy instead of `policy`. It is also asked where there is only one replica, which
  // others are not. Null: `policy`.
  MakeReplicaPolicy make_policy;
};

class ReplicaChooser {
 public:
  struct Environment {
    // Local address for polls and probes.
    Endpoint bind;
    // Network for polls and probes; must outlive the chooser. Null: the loop's own network.
    Network* network = nullptr;
    // Called with the call endpoint of a server that leaves polls without answers; may be null.
    std::function<void(const Endpoint&)> doubt;
    // Counts polls that ended before all had answered or one was idle; may be null.
    Counter* slow_polls = nullptr;
  };
  static StatusOr<std::unique_ptr<ReplicaChooser>> Open(Loop& loop, const BalancingOptions& options,
                                                        const Environment& environment);

  // Returns the replica to call, none of `tried`; nullopt if all were tried.
  std::optional<ReplicaChoice> Choose(const ServiceName& service, PartitionId partition,
                                      const std::vector<Replica>& replicas,
                                      const std::vector<NodeId>& tried, TimePoint deadline);
  // See ReplicaPolicy.
  void Answered(const ReplicaChoice& choice, uint32_t load_index, Duration run_time,
                const Status& status) {
    if (choice.record != 0) policy_->Answered(choice.record, load_index, run_time, status);
  }
  void Lost(const ReplicaChoice& choice, bool failed) {
    if (choice.record != 0) policy_->Lost(choice.record, failed);
  }

  void SetView(const std::shared_ptr<const YellowPageView>& view) { policy_->SetView(*view); }

 private:
  explicit ReplicaChooser(const BalancingOptions& options)
      : chooses_single_(options.make_policy != nullptr) {}

  const bool chooses_single_;
  std::unique_ptr<PollingAgent> polling_;
  std::unique_ptr<ReplicaPolicy> policy_;  // uses polling_
};

}  // namespace neptune
