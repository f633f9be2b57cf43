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

  // Calls may be served by the calling node itself, which takes them at `own`; a call to it costs
  // no connection. `load_index`: the node's current load, any thread. Policies that know loads
  // prefer it while it is not loaded more than the replica that they would choose otherwise.
  void PreferLocal(const Endpoint& own, std::function<uint32_t()> load_index) {
    own_ = own;
    load_index_ = std::move(load_index);
  }
  // Several choices that are made before any of their calls is sent: while a plan lives, each
  // choice of the own node counts as one more request there.
  class Plan {
   public:
    explicit Plan(ReplicaChooser& chooser) : chooser_(chooser) { ++chooser_.plan_count_; }
    ~Plan() {
      if (--chooser_.plan_count_ == 0) chooser_.planned_local_ = 0;
    }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

   private:
    ReplicaChooser& chooser_;
  };

  // True if Choose may park.
  bool may_wait() const { return may_wait_; }
  // Returns the replica to call, none of `tried`; nullopt if all were tried. What `hints` refers to
  // outlives the call.
  std::optional<ReplicaChoice> Choose(const ServiceName& service, PartitionId partition,
                                      const std::vector<Replica>& replicas,
                                      const std::vector<NodeId>& tried, TimePoint deadline,
                                      const ReplicaHints& hints = {});
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
      : chooses_single_(options.make_policy != nullptr),
        may_wait_(chooses_single_ || options.policy == BalancingPolicy::kPoll) {}

  std::optional<LocalReplica> FindLocal(const std::vector<Replica>& replicas,
                                        const std::vector<size_t>& candidates) const;

  const bool chooses_single_;
  const bool may_wait_;
  Endpoint own_;
  std::function<uint32_t()> load_index_;  // null: the calling node serves no calls
  int plan_count_ = 0;
  uint32_t planned_local_ = 0;  // choices of the own node by the plans that live
  std::unique_ptr<PollingAgent> polling_;
  std::unique_ptr<ReplicaPolicy> policy_;  // uses polling_
};

}  // namespace neptune
