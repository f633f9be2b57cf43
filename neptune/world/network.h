// Sockets as the runtime sees them: streams and datagrams whose events arrive on one loop.
//
// Source: [Shen02] 2.4 (multicast announcements).
// Threads: every object belongs to the loop of the Network that made it and is used only there.
// Units: sizes in bytes; times are TimePoint.
// Errors: kUnavailable connect refused, reset or unreachable; kDeadlineExceeded connect too slow;
//   kInvalidArgument an address that cannot be parsed or bound; kResourceExhausted out of
//   descriptors.
// Limits: a datagram carries at most kDatagramSizeMax bytes; larger ones are refused.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune {

inline constexpr size_t kDatagramSizeMax = 65507;

// An IPv4 address and port; a value.
struct Endpoint {
  uint32_t address = 0;  // host byte order; 0 = any
  uint16_t port = 0;     // 0 = chosen by the system when bound

  // Parses "a.b.c.d:port"; "localhost" stands for 127.0.0.1.
  static StatusOr<Endpoint> Parse(std::string_view text);
  std::string ToString() const;
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const Endpoint& endpoint) {
    return H::combine(std::move(state), endpoint.address, endpoint.port);
  }
};

std::ostream& operator<<(std::ostream& out, const Endpoint& endpoint);
inline constexpr uint32_t kLoopbackAddress = 0x7f000001;

// Reacts to a stream's events, on the stream's loop. The handler outlives the stream or closes it.
// A handler may destroy the stream inside any of these calls.
class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  // Bytes arrived; the view is valid during the call only.
  virtual void OnData(std::string_view bytes) = 0;
  // The stream ended: OK after the peer's orderly end, else the reason. Called once, and not after
  // the owner's own Close. Nothing follows.
  virtual void OnClosed(const Status& reason) = 0;
  // Unsent bytes fell to zero after having been above zero.
  virtual void OnDrained() {}
};

// An ordered reliable byte stream, as TCP gives. Destroying it closes it at once.
class Stream {
 public:
  virtual ~Stream() = default;
  // Begins delivery of events. REQUIRES: called once, `handler` not null.
  virtual void Start(StreamHandler* handler) = 0;
  // Queues bytes; never blocks, never refuses. The writer bounds itself by unsent_size().
  virtual void Write(std::string bytes) = 0;
  // Bytes queued and not yet taken by the operating system (or the modelled network).
  virtual size_t unsent_size() const = 0;
  // Stops or resumes OnData, for flow control; reading is on after Start.
  virtual void SetReading(bool on) = 0;
  // Sends what is queued, then ends the stream; no event follows.
  virtual void Close() = 0;
  virtual Endpoint peer() const = 0;
};

// A bound port that accepts streams. Destroying it stops accepting.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual Endpoint local() const = 0;
};

// A bound datagram socket. Destroying it closes it.
class DatagramSocket {
 public:
  virtual ~DatagramSocket() = default;
  // Sends one datagram, or loses it; loss is not an error. A connected socket sends to its peer, whatever `to` says.
  // Errors: kInvalidArgument larger than kDatagramSizeMax.
  virtual Status SendTo(const Endpoint& to, std::string_view bytes) = 0;
  virtual Endpoint local() const = 0;
};

struct DatagramOptions {
  // Where to bind. With a group, the port is the group's and the address is ignored.
  Endpoint bind;
  // Multicast group to join, with its port; several sockets on one machine may join the same one.
  std::optional<Endpoint> multicast_group;
  // Address of the interface to join and send multicast on. Default: loopback, a cluster on one
  // machine.
  uint32_t multicast_interface = kLoopbackAddress;
  // Connects the socket: it hears nobody else. Not with a group.
  std::optional<Endpoint> peer;
  // Of a connected socket: a datagram reached the peer's machine, and nobody listened on the port. Not called inside
  // SendTo; may destroy the socket.
  std::function<void()> on_refused;
};

struct ListenOptions {
  // Several loops of one node may listen on one port; each accepts a share of the streams.
  bool share_port = false;
  int backlog = 1024;
};

class Network {
 public:
  using AcceptHandler = absl::AnyInvocable<void(std::unique_ptr<Stream>)>;
  using ConnectHandler = absl::AnyInvocable<void(StatusOr<std::unique_ptr<Stream>>)>;
  // `bytes` is valid during the call only.
  using DatagramHandler = absl::AnyInvocable<void(const Endpoint& from, std::string_view bytes)>;

  virtual ~Network() = default;

  virtual StatusOr<std::unique_ptr<Listener>> Listen(const Endpoint& at,
                                                     const ListenOptions& options,
                                                     AcceptHandler on_accept) = 0;
  // Calls `on_done` exactly once, by `deadline` at the latest, never inside this call.
  virtual void Connect(const Endpoint& to, TimePoint deadline, ConnectHandler on_done) = 0;
  virtual StatusOr<std::unique_ptr<DatagramSocket>> OpenDatagram(const DatagramOptions& options,
                                                                 DatagramHandler on_datagram) = 0;
};

}  // namespace neptune
