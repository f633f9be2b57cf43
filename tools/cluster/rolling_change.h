// A change that is applied to a cluster node by node: a restart, or another module or
// implementation of a service. Each decision is made durable before it is executed, so that any
// later run can resume it.
//
//   of one node:   waiting ──► changing ──► changed
//                                  │ does not come back
//                                  └──► returning ──► returned      and the remaining nodes stay as they are
//
// No I/O except through RollingHost.
// Threads: thread-compatible.
// Errors: of RunRollingChange: those of the host; FAILED_PRECONDITION the change was stopped and
//   its node is back as it was.
// Limits: kRollingNodeCountMax nodes.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/status.h"

namespace search::tools {

inline constexpr size_t kRollingNodeCountMax = 8192;

// A service as a node hosts it in place of the spec's settings.
struct HostedChange {
  std::string node;
  std::string service;
  std::string module;  // empty: the spec's
  std::map<std::string, std::string> parameters;
  friend bool operator==(const HostedChange&, const HostedChange&) = default;
};

enum class NodeStage { kWaiting, kChanging, kChanged, kReturning, kReturned };

struct RollingNode {
  std::string node;
  NodeStage stage = NodeStage::kWaiting;
  // The previous settings of the service on this node; absent: those of the spec.
  std::optional<HostedChange> before = {};
  friend bool operator==(const RollingNode&, const RollingNode&) = default;
};

struct RollingChange {
  std::string what;  // for people: "swap tier1=rocksdb_postings"
  // What each node hosts from then on, without the node's name. Absent: unchanged, a restart.
  std::optional<HostedChange> change = {};
  // The implementation that nodes must then announce; empty: any.
  std::string implementation = {};
  std::vector<RollingNode> nodes = {};
  std::string failure = {};  // why a node returns, or has returned
  friend bool operator==(const RollingChange&, const RollingChange&) = default;
};

// All decisions about a cluster that override its spec.
struct ClusterChanges {
  std::vector<HostedChange> hosted;  // at most one for each node and service
  std::optional<RollingChange> under_way;
  friend bool operator==(const ClusterChanges&, const ClusterChanges&) = default;
};

const HostedChange* FindHosted(const ClusterChanges& changes, const std::string& node,
                               const std::string& service);

struct RollingStep {
  enum class Kind {
    kDecide,   // the node's change must be made durable
    kRestart,  // the node must be restarted with the decided settings and awaited
    kDone,
    kStopped,  // a node has returned
  };
  Kind kind = Kind::kDone;
  std::string node = {};
};

RollingStep NextStep(const RollingChange& change);

// Records that the node's change is decided. REQUIRES: NextStep says kDecide for it.
void Decide(const std::string& node, ClusterChanges* changes);
// Records whether the node is back with the decided settings. REQUIRES: NextStep says kRestart for
// it; a node that returns is back.
void Conclude(const std::string& node, const neptune::Status& status, ClusterChanges* changes);

// The cluster that is changed.
class RollingHost {
 public:
  virtual ~RollingHost() = default;
  // Makes the record durable, and the spec that nodes start with from now on.
  virtual neptune::Status Save(const ClusterChanges& changes) = 0;
  // OK if the cluster keeps all partitions while the node is down.
  virtual neptune::Status MayTakeDown(const std::string& node) = 0;
  // Lets the node finish its requests, starts it, and waits until all others offer it again.
  // `implementation`: the one that it must announce for the service; both empty: any.
  virtual neptune::Status Restart(const std::string& node, const std::string& service,
                                  const std::string& implementation) = 0;
};

// Executes the remaining steps of changes->under_way; removes the record when done or stopped.
neptune::Status RunRollingChange(ClusterChanges* changes, RollingHost& host);

}  // namespace search::tools
