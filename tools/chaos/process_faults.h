// Faults of nodes that are processes of this machine.
//
// Threads: thread-compatible.
// Errors: kUnavailable a process did not start, or a limit or a link could not be set.

#pragma once

#include <map>
#include <string>

#include "neptune/world/faults/fault_target.h"
#include "tools/chaos/server_process.h"
#include "tools/process/linked_hosts.h"

namespace search::chaos {

// A node and the number of its host, if nodes have hosts of their own.
struct FaultyNode {
  ServerProcess* process = nullptr;
  size_t host = 0;
};

class ProcessFaults final : public neptune::FaultTarget {
 public:
  // `hosts`: null if all nodes are on loopback; then none can be isolated. The hosts and the
  // processes outlive the target.
  ProcessFaults(std::map<std::string, FaultyNode> nodes, const lab::LinkedHosts* hosts)
      : nodes_(std::move(nodes)), hosts_(hosts) {}

  bool Supports(neptune::Fault::Kind kind) const override;
  // Whether a schedule can be applied in the order of its changes. kUnimplemented: it has a kind
  // that is not supported. kInvalidArgument: it names no node of the cluster, or begins a fault of
  // a node that has another one.
  neptune::Status Check(const neptune::FaultSchedule& schedule) const;
  // kInvalidArgument: no such node. kFailedPrecondition: its process does not live, or lives at the
  // end of a crash.
  neptune::Status Begin(const neptune::Fault& fault) override { return Set(fault, true); }
  neptune::Status End(const neptune::Fault& fault) override { return Set(fault, false); }

 private:
  neptune::Status Set(const neptune::Fault& fault, bool begins);

  const std::map<std::string, FaultyNode> nodes_;
  const lab::LinkedHosts* const hosts_;
};

}  // namespace search::chaos
