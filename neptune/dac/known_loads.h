// What one calling loop knows about the servers' loads: an estimator, and the reports that reach
// it.
//
//   polls, answers of calls ──────────┐
//   announcements, gossip of the node ┴──► LoadEstimator ──► CallLoads of one call
//
// Source: [Chu03] 4.5.
// Threads: the loop; Poll on a user-level thread of it.

#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/time.h"
#include "neptune/dac/aggregation_message.h"
#include "neptune/dac/aggregator_options.h"
#include "neptune/dac/load_estimator.h"
#include "neptune/dac/load_gossip.h"
#include "neptune/dac/load_polls.h"
#include "neptune/dac/reduction_tree.h"
#include "neptune/service/node_loops.h"

namespace neptune {

// The estimated loads of a call's servers.
struct CallLoads {
  std::vector<TreeServer> servers;
  // The same, but a reduction costs more on a server whose load is uncertain.
  std::vector<TreeServer> cautious;
};

class KnownLoads {
 public:
  // The references outlive this object. Errors: those of opening the poll socket.
  static StatusOr<std::unique_ptr<KnownLoads>> Open(NodeLoop& loop, LoadGossip& gossip,
                                                    const AggregatorOptions& options);

  // Polls some of the servers, unless polls are off, there is only one, or the call has so little
  // to reduce that polls would cost more than the best tree can save.
  void Poll(const ServiceName& service, const std::vector<TreeMember>& members, TimePoint deadline);
  CallLoads Estimate(const ServiceName& service, const std::vector<TreeMember>& members);
  // The call assigned work to its servers.
  void OnAssigned(const std::vector<TreeMember>& members, const std::vector<Duration>& work);
  // The call was cancelled: its work was done or never begun.
  void OnCancelled(const std::vector<TreeMember>& members, const std::vector<Duration>& work);
  // A server's record, taken at that time, came with the answer of a call.
  void OnRecord(const ServiceName& service, const MemberRecord& record, TimePoint taken_at);

 private:
  KnownLoads(NodeLoop& loop, LoadGossip& gossip, const AggregatorOptions& options);
  void ReadAnnouncements(const ServiceName& service, const std::vector<TreeMember>& members);
  void ReadGossip(const ServiceName& service, const std::vector<TreeMember>& members);

  NodeLoop& loop_;
  LoadGossip& gossip_;
  const AggregatorOptions& options_;
  const std::unique_ptr<LoadEstimator> estimator_;
  std::unique_ptr<LoadPolls> polls_;
  // Sequence number of each node's latest announcement that the estimator has.
  std::unordered_map<NodeId, uint64_t> announced_;
};

}  // namespace neptune
