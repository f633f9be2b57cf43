// A cluster of dependency_run.h on real nodes: each has a world of its own in this process, with kernel threads and
// sockets on loopback, and they find each other by multicast.
//
// Source: dependency capsules VI.A. Layer: tools.
// Threads: made, used and destroyed on one plain kernel thread, which waits.
// Units: seconds really pass; processor time that services model is emulated, or really used.
// Errors: kInternal a node did not start, or the nodes did not find each other.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "neptune/base/status.h"
#include "tools/lab/dependency_run.h"
#include "tools/lab/real_node.h"

namespace search::lab {

class RealDependencyCluster {
 public:
  // Of the options script, cut and times count for nothing here. With `emulated` each node has the virtual processors of
  // kDependencyNode.
  static neptune::StatusOr<std::unique_ptr<RealDependencyCluster>> Start(DependencyOptions options,
                                                                         bool emulated);
  ~RealDependencyCluster();
  RealDependencyCluster(const RealDependencyCluster&) = delete;
  RealDependencyCluster& operator=(const RealDependencyCluster&) = delete;

  // Offers requests for that time, and waits until each has its answer or is lost. The clock begins with the call.
  DependencyResult Offer(double duration_s);
  // Runs it on a user-level thread of that node, and waits. REQUIRES: there is such a node.
  void RunOn(const std::string& name, const std::function<void(neptune::Node& node)>& body);

 private:
  explicit RealDependencyCluster(DependencyOptions options);
  neptune::Status StartNodes(bool emulated);
  neptune::Status AwaitAll();
  void OfferOnClient(neptune::Node& client, double duration_s, DependencyResult* result);

  const neptune::UniquePort port_;
  const DependencyOptions options_;
  neptune::ClusterSpec spec_;
  std::map<std::string, std::unique_ptr<RealNode>> nodes_;
  uint64_t number_ = 0;  // of the next request; on the client's loop
};

}  // namespace search::lab
