// A cluster of dependency_run.h on real nodes: each has a world of its own in this process, with
// kernel threads and sockets, on loopback or in a linked host of its own. They find each other by
// multicast.
//
// Source: [Chu05] VI.A.
// Threads: created, used and destroyed on one plain kernel thread, which blocks.
// Units: real seconds; the modelled processor time of services is emulated or really used.
// Errors: kInternal a node did not start, or the nodes did not find each other; those of
//   linked_hosts.h.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "neptune/base/status.h"
#include "neptune/base/unique_port.h"
#include "neptune/testing/real_node.h"
#include "tools/lab/capsules/dependency_run.h"
#include "tools/process/linked_hosts.h"

namespace search::lab {

// The treatment of the processor time that services model.
enum class ProcessorTime {
  kUsed,      // really used
  kEmulated,  // each node has the virtual processors of kDependencyNode
};

class RealDependencyCluster {
 public:
  // Ignores the script, the times and the cut of the options.
  static neptune::StatusOr<std::unique_ptr<RealDependencyCluster>> Start(DependencyOptions options,
                                                                         ProcessorTime time);
  // Starts each node in a host of its own; each Offer takes links down and up again by `cut`.
  static neptune::StatusOr<std::unique_ptr<RealDependencyCluster>> StartOnHosts(
      DependencyOptions options, ProcessorTime time);
  ~RealDependencyCluster();
  RealDependencyCluster(const RealDependencyCluster&) = delete;
  RealDependencyCluster& operator=(const RealDependencyCluster&) = delete;

  // Offers requests for `duration_s`, and waits until each is answered or lost. The clock begins
  // with the call.
  DependencyResult Offer(double duration_s);
  // Runs `body` on a user-level thread of node `name`, and waits. REQUIRES: there is such a node.
  void RunOn(const std::string& name, const std::function<void(neptune::Node& node)>& body);

 private:
  explicit RealDependencyCluster(DependencyOptions options);
  neptune::Status StartNodes(ProcessorTime time);
  neptune::Status StartNode(const neptune::NodeSpec& node, size_t number, ProcessorTime time);
  neptune::Status AwaitAll();
  size_t HostOf(const std::string& node) const;
  // Sets the link of the cut node at time `at` of an offer.
  void SetLinkAt(neptune::TimePoint at, bool is_up);
  void OfferOnClient(neptune::Node& client, double duration_s, DependencyResult* result);

  const neptune::UniquePort port_;
  const DependencyOptions options_;
  neptune::ClusterSpec spec_;
  // Indexed by the node's number in the spec; null: all nodes are on loopback.
  std::unique_ptr<LinkedHosts> hosts_;
  std::map<std::string, std::unique_ptr<neptune::RealNode>> nodes_;
  uint64_t number_ = 0;  // number of the next request; accessed on the client's loop only
};

}  // namespace search::lab
