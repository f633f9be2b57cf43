// The network between the nodes of a cluster, over a loop's plain one: connections prove themselves before a byte of
// them is handed over, datagrams are sealed.
//
//   Listen, Connect ─► plain stream ─► TlsStream, if there are certificates ─► KeyedStream, if there is a key ─► owner
//   SendTo ─► SealDatagram ─► plain socket ─► OpenDatagramSeal ─► handler, or dropped and counted
//
// Runs unchanged in the real and the simulated world.
// Threads: its loop's own; the tls context and the log are shared with other loops.
// Errors: those of Network; Connect also kUnavailable "... to ENDPOINT: why" when either end refuses the other.
// Limits: an accepted connection proves itself within handshake_timeout, a made one by the deadline of Connect;
//   handshake_count_max at once, of accepted ones the oldest makes room. A datagram is kSealSizeMax bytes larger.

#pragma once

#include <memory>

#include "neptune/security/cluster_key.h"
#include "neptune/security/refusal_log.h"
#include "neptune/world/loop.h"
#include "neptune/world/network.h"

namespace neptune {

class TlsContext;

struct SecureNetworkOptions {
  // Null: no proof of a key, and datagrams as they are.
  std::shared_ptr<const ClusterKeys> keys;
  // Null: no encryption.
  std::shared_ptr<TlsContext> tls;
  // Of an accepted connection. Default: 2 s, many round trips of a cluster's network.
  Duration handshake_timeout = std::chrono::seconds(2);
  // Accepted connections that have not proven themselves yet. Default: 1,024.
  size_t handshake_count_max = 1024;
  // May be null; outlives the network.
  RefusalLog* refusals = nullptr;
};

class SecureNetwork final : public Network {
 public:
  // On its loop, which outlives it.
  SecureNetwork(Loop& loop, const SecureNetworkOptions& options);
  // Listeners, sockets and streams may live longer. Connections being made are given up without an answer.
  ~SecureNetwork() override;

  StatusOr<std::unique_ptr<Listener>> Listen(const Endpoint& at, const ListenOptions& options,
                                             AcceptHandler on_accept) override;
  void Connect(const Endpoint& to, TimePoint deadline, ConnectHandler on_done) override;
  StatusOr<std::unique_ptr<DatagramSocket>> OpenDatagram(const DatagramOptions& options,
                                                         DatagramHandler on_datagram) override;

 private:
  struct Core;
  const std::shared_ptr<Core> core_;
};

}  // namespace neptune
