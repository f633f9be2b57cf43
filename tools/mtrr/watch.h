// Polls the nodes of a service and reports when one of them has left its plan's operating point.
//
// Source: [Jamjoom04] IX; neptune/mtrr/saturation_monitor.h is the policy.
// Threads: thread-compatible; a node that does not answer blocks for kNodeTimeout.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/mtrr/saturation_monitor.h"
#include "tools/mtrr/node_admin.h"
#include "tools/mtrr/plan_file.h"

namespace search::tools {

// Result of one poll.
struct WatchedNode {
  std::string name;
  neptune::Status status;  // error of the last poll
  neptune::WindowReport report;
};

class ServiceWatch {
 public:
  static neptune::StatusOr<ServiceWatch> Make(const Allocation& allocation,
                                              std::vector<AdminNode> nodes,
                                              const neptune::MonitorOptions& options);

  // Polls every node. `now_s` must come from the same clock in all calls.
  std::vector<WatchedNode> Poll(double now_s);

 private:
  ServiceWatch(std::string service, std::vector<AdminNode> nodes,
               std::vector<neptune::SaturationMonitor> monitors)
      : service_(std::move(service)), nodes_(std::move(nodes)), monitors_(std::move(monitors)) {}

  std::string service_;
  std::vector<AdminNode> nodes_;
  std::vector<neptune::SaturationMonitor> monitors_;  // one per node, in the same order
};

// A line for each node, and one for each deviation. Empty if no window has ended.
std::string WatchText(const std::vector<WatchedNode>& nodes);
bool HasDeparture(const std::vector<WatchedNode>& nodes);

}  // namespace search::tools
