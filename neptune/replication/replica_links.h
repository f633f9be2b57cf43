// What a node's replicas send to those of other nodes: one queue a node, sent together, one call at a time.
//
// Threads: the control loop's own.
// Limits: kLinkSizeMax bytes and kLinkCountMax messages wait for a node; what comes on top is dropped, as the network
//   might. A call takes kExchangeTimeout.

#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/replication/replica_letter.h"
#include "neptune/service/client.h"

namespace neptune {

inline constexpr size_t kLinkCountMax = 10'000;
inline constexpr size_t kLinkSizeMax = 64u << 20;
inline constexpr size_t kExchangeSizeMax = 4u << 20;
inline constexpr Duration kExchangeTimeout = std::chrono::seconds(2);

// The service and the method by which nodes exchange replicas' messages.
inline constexpr char kReplicationService[] = "neptune.replication";
inline constexpr char kExchangeMethod[] = "Exchange";
inline constexpr char kSnapshotMethod[] = "Snapshot";

class ReplicaLinks {
 public:
  // A letter to the node did not arrive, as far as one can see.
  using OnLost = std::function<void(const NodeId& to, const ReplicaLetter& letter)>;

  ReplicaLinks(Client& client, NodeLoop& control, OnLost on_lost);

  void Send(const NodeId& to, ReplicaLetter letter);
  void Stop() { stopping_ = true; }
  int threads_alive() const { return threads_alive_; }

 private:
  struct Link {
    std::deque<ReplicaLetter> waiting;
    size_t size = 0;
    bool is_sending = false;
  };
  void SendAll(const NodeId& to, Link& link);
  std::vector<ReplicaLetter> PopSome(Link& link);

  Client& client_;
  NodeLoop& control_;
  const OnLost on_lost_;
  std::map<NodeId, Link> links_;  // of the nodes of the spec
  bool stopping_ = false;
  int threads_alive_ = 0;
};

}  // namespace neptune
