// Takes nodes of a running cluster out of service and back without a failed query.
//
//   restart:  what it hosts is elsewhere? ─► SIGTERM: the node says goodbye and finishes what it has ─► the supervisor starts
//             it ─► every running node offers all that it offered before, and all that this node hosts
//   drain:    the same, but the supervisor leaves it down until it is restarted
//
// Threads: one; blocks it.
// Errors: NOT_FOUND the cluster is not running; FAILED_PRECONDITION the node has the last replica
//   of a partition, or another tool's change is in progress; UNAVAILABLE a node did not start, with
//   its message; DEADLINE_EXCEEDED it was not in service again in time.
// Limits: OperationOptions::wait for each node.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/node/cluster_spec.h"
#include "tools/cluster/offered_replicas.h"
#include "tools/cluster/rolling_change.h"
#include "tools/cluster/state_directory.h"

namespace search::tools {

struct OperationOptions {
  // Longest time from a node's stop until all others see it in service again. Default: 60 s.
  neptune::Duration wait = std::chrono::seconds(60);
  // Also take down the last replica of a partition.
  bool force = false;
  // Called with each step as a line for people.
  std::function<void(const std::string& line)> report = [](const std::string&) {};
};

// The cluster's spec and the decisions that override it.
struct DecidedSpec {
  neptune::ClusterSpec base;
  std::string path;  // where `base` came from
  ClusterChanges changes;
};

// REQUIRES: the state directory outlives it.
class NodeOperations final : public RollingHost {
 public:
  NodeOperations(DecidedSpec spec, const StateDirectory& state, OperationOptions options)
      : spec_(std::move(spec)), state_(state), options_(std::move(options)) {}

  neptune::Status Drain(const std::string& node);
  // Also of a drained node, which it takes back into service.
  neptune::Status RestartOne(const std::string& node);
  // Executes a change. If spec.changes.under_way is set, resumes it; `change` must then be absent.
  neptune::Status Roll(std::optional<RollingChange> change);

  neptune::Status Save(const ClusterChanges& changes) override;
  neptune::Status MayTakeDown(const std::string& node) override;
  neptune::Status Restart(const std::string& node, const std::string& service,
                          const std::string& implementation) override;

 private:
  struct Expectation {
    OfferedReplicas before;
    std::string node;
    std::string service;
    std::string implementation;
  };
  neptune::Status CheckNode(const std::string& node) const;
  // Checks it against the current view of every running node.
  neptune::Status IsDispensableToAll(const std::string& node) const;
  neptune::StatusOr<OfferedReplicas> ViewOf(const std::string& node) const;
  // Views of every running node but that one, by node.
  neptune::StatusOr<std::map<std::string, OfferedReplicas>> Views(const std::string& except) const;
  neptune::Status StopProcess(const std::string& node);
  neptune::Status AwaitStart(const std::string& node, pid_t before, size_t log_begin,
                             neptune::TimePoint deadline);
  neptune::Status AwaitOffers(const Expectation& expectation, neptune::TimePoint deadline);
  std::string MissingOf(const Expectation& expectation) const;

  DecidedSpec spec_;
  const StateDirectory& state_;
  const OperationOptions options_;
};

// The decisions, and the spec with them applied. Errors: those of reading and of ApplyChanges.
neptune::StatusOr<ClusterChanges> LoadChanges(const StateDirectory& state);
neptune::StatusOr<neptune::ClusterSpec> EffectiveSpec(const DecidedSpec& spec);
// Writes the spec that nodes start with.
neptune::Status WriteNodesSpec(const DecidedSpec& spec, const StateDirectory& state);

}  // namespace search::tools
