// Transport of messages between replicas: one queue per destination node, sent in batches, one call
// at a time.
//
// Messages are exchanged between control loops, at nodes' control endpoints. Snapshots are fetched
// at call endpoints, as a service of their own: they are large and must not delay heartbeats.
//
// Threads: used on the control loop only.
// Limits: kLinkSizeMax bytes and kLinkCountMax messages per queue; further messages are dropped,
//   like messages lost by the network. A call takes at most kExchangeTimeout.

#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/replication/agent/addressed_message.h"
#include "neptune/replication/agent/replication_services.h"
#include "neptune/service/client.h"
#include "neptune/service/node_loops.h"

namespace neptune {

inline constexpr size_t kLinkCountMax = 10'000;
inline constexpr size_t kLinkSizeMax = 64u << 20;
inline constexpr size_t kExchangeSizeMax = 4u << 20;
inline constexpr Duration kExchangeTimeout = std::chrono::seconds(2);

class ReplicaLinks {
 public:
  // Called for a message that probably did not arrive at the node.
  using OnLost = std::function<void(const NodeId& to, const AddressedMessage& addressed)>;

  ReplicaLinks(Client& client, NodeLoop& control, OnLost on_lost);

  void Send(const NodeId& to, AddressedMessage addressed);
  void Stop() { stopping_ = true; }
  int threads_alive() const { return threads_alive_; }

 private:
  struct Link {
    std::deque<AddressedMessage> waiting;
    size_t size = 0;
    bool is_sending = false;
  };
  void SendAll(const NodeId& to, Link& link);
  std::vector<AddressedMessage> PopSome(Link& link);

  Client& client_;
  NodeLoop& control_;
  const OnLost on_lost_;
  std::map<NodeId, Link> links_;  // one per node of the spec
  bool stopping_ = false;
  int threads_alive_ = 0;
};

}  // namespace neptune
