// The network between the nodes of a cluster, on top of a loop's plain network: connections are
// authenticated before any of their bytes are passed on, and datagrams are sealed.
//
//   Listen, Connect ─► plain stream ─► TlsStream, if there are certificates
//                   ─► KeyedStream, if there is a key ─► owner
//   SendTo ─► SealDatagram ─► plain socket ─► OpenDatagramSeal ─► handler, or dropped and counted
//
// Runs unchanged in the real and the simulated world.
// Threads: its loop's own; the TLS context and the log are shared with other loops.
// Errors: those of Network; Connect also kUnavailable "... to ENDPOINT: why" when either end
//   refuses the other.
// Limits: an accepted connection must authenticate within handshake_timeout, an outgoing one by the
//   deadline of Connect; at most handshake_count_max accepted connections are unauthenticated at
//   once, a quarter of them of one address (handshake_places.h says which is closed for a new one).
//   A datagram grows by at most kSealSizeMax bytes.

#pragma once

#include <memory>

#include "neptune/security/refusal_log.h"
#include "neptune/world/loop.h"
#include "neptune/world/network.h"

namespace neptune {

class ClusterKeys;
class TlsContext;

struct SecureNetworkOptions {
  // Null: no key handshake, and datagrams are not sealed.
  std::shared_ptr<const ClusterKeys> keys;
  // Null: no TLS.
  std::shared_ptr<TlsContext> tls;
  // Accepted connections that do not begin with TLS are passed on as they are (see
  // TlsStream::TakePlain). REQUIRES: no keys. Default: false.
  bool takes_plain = false;
  // Time limit of an accepted connection's handshake. Default: 2 s, many round trips in a cluster's
  // network.
  Duration handshake_timeout = std::chrono::seconds(2);
  // Maximum accepted connections that are not authenticated yet. Default: 1,024.
  size_t handshake_count_max = 1024;
  // May be null; must outlive the network.
  RefusalLog* refusals = nullptr;
};

class SecureNetwork final : public Network {
 public:
  // Works on `loop`, which must outlive it.
  SecureNetwork(Loop& loop, const SecureNetworkOptions& options);
  // Listeners, sockets and streams may outlive the network. Pending connects are abandoned without
  // a callback.
  ~SecureNetwork() override;

  StatusOr<std::unique_ptr<Listener>> Listen(const Endpoint& at, const ListenOptions& options,
                                             AcceptHandler on_accept) override;
  void Connect(const Endpoint& to, TimePoint deadline, ConnectHandler on_done) override;
  StatusOr<std::unique_ptr<DatagramSocket>> OpenDatagram(const DatagramOptions& options,
                                                         DatagramHandler on_datagram) override;
  // True with keys.
  bool knows_senders() const override;

 private:
  struct Core;
  const std::shared_ptr<Core> core_;
};

}  // namespace neptune
