// Load polls of one calling loop: a call asks a few servers for their loads, and waits for the
// answers for a time that is short compared with the call. Later answers serve the next call.
//
// Source: [Chu03] 4.5 (2).
// Threads: the loop; Poll parks, so it needs a user-level thread.
// Limits: kProbeCountMax polls under way; the oldest are forgotten.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "neptune/balancing/load_polling.h"
#include "neptune/base/ids.h"
#include "neptune/base/time.h"
#include "neptune/dac/aggregation_message.h"
#include "neptune/dac/load_estimator.h"
#include "neptune/dac/load_gossip.h"
#include "neptune/service/node_loops.h"

namespace neptune {

class LoadPolls {
 public:
  // The references outlive this object. Errors: those of opening the socket.
  static StatusOr<std::unique_ptr<LoadPolls>> Open(NodeLoop& loop, const Endpoint& bind,
                                                   LoadEstimator& estimator, LoadGossip& gossip);

  // Polls at least `count` of the servers, and one of every kMembersPerPoll; reports their answers
  // to the estimator and the gossip. Returns when all have answered, at the latest at `deadline`.
  void Poll(const ServiceName& service, const std::vector<TreeMember>& members, size_t count,
            TimePoint deadline);

 private:
  // The polls of one call.
  struct Round {
    ThreadRef waiter;
    size_t awaited = 0;
  };
  struct Asked {
    NodeId node;
    ServiceName service;
    std::shared_ptr<Round> round;
  };

  LoadPolls(NodeLoop& loop, LoadEstimator& estimator, LoadGossip& gossip)
      : loop_(loop), estimator_(estimator), gossip_(gossip) {}
  void Ask(const ServiceName& service, const NodeId& node, const std::shared_ptr<Round>& round);
  void Await(Round& round, TimePoint until);
  void HandleAnswer(uint64_t cookie, const LoadReport& report);

  NodeLoop& loop_;
  LoadEstimator& estimator_;
  LoadGossip& gossip_;
  std::unique_ptr<PollingAgent> agent_;
  std::array<Asked, kProbeCountMax> asked_;  // by cookie modulo their count
  uint64_t asked_count_ = 0;
};

}  // namespace neptune
