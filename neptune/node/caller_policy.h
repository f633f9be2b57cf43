// Which node may call which service, by the names in the nodes' certificates.
//
//   callers of the service in the spec     a node of one of them, or of the service itself
//   no callers in the spec                 every member, also one that the spec does not name
//   services of replication                nodes that keep or witness a partition that this node
//                                          keeps or witnesses too; from which partitions a message
//                                          may be is checked in neptune/replication/agent
//
// A node that faces users and is taken over cannot vote, append to logs or fetch snapshots then.
//
// Enforced with node_tls only: a key says who is a member, not which one. Datagrams prove no more
// than the key, so loads, announcements and tasks of aggregations are outside.
// Threads: immutable; thread-safe.
// Errors: kPermissionDenied with the names of both.

#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.pb.h"

namespace neptune {

class CallerPolicy {
 public:
  // For the services of the node `self`. REQUIRES: the spec is complete.
  CallerPolicy(const ClusterSpec& spec, const NodeId& self);

  // `caller` is the name in the caller's certificate. Takes logarithmic time.
  Status Check(std::string_view caller, std::string_view service) const;

 private:
  const std::string self_;
  // Nodes that may call the service; services that every member may call are absent.
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> callers_;
};

}  // namespace neptune
