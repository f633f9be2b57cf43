// Streams and datagram sockets whose events arrive on one loop.
//
// Source: [Shen02] 2.4 (multicast announcements).
// Threads: every object belongs to the loop of the Network that made it and is used only on it.
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
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune {

inline constexpr size_t kDatagramSizeMax = 65507;

// An IPv4 address and port.
struct Endpoint {
  uint32_t address = 0;  // host byte order; 0 = any
  uint16_t port = 0;     // 0 = chosen by the system when bound

  // Parses "a.b.c.d:port"; "localhost" means 127.0.0.1.
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

// Handles a stream's events, on the stream's loop. The handler must outlive the stream or close it.
// It may destroy the stream inside any of these calls.
class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  // Bytes arrived; the view is valid during the call only.
  virtual void OnData(std::string_view bytes) = 0;
  // The stream ended: OK after an orderly close by the peer, otherwise the reason. Called once, as
  // the last event, and not after the owner's own Close.
  virtual void OnClosed(const Status& reason) = 0;
  // The number of unsent bytes has dropped to zero.
  virtual void OnDrained() {}
};

// An ordered, reliable byte stream, like TCP. Destroying it closes it at once.
class Stream {
 public:
  virtual ~Stream() = default;
  // Starts delivery of events. REQUIRES: called once, `handler` not null.
  virtual void Start(StreamHandler* handler) = 0;
  // Queues bytes; never blocks or refuses. The writer must limit itself by unsent_size().
  virtual void Write(std::string bytes) = 0;
  // Queues what `append` appends to the string it is given, as Write does, without a copy in
  // between. `append` must not use the stream.
  virtual void WriteWith(absl::FunctionRef<void(std::string*)> append) {
    std::string bytes;
    append(&bytes);
    Write(std::move(bytes));
  }
  // An empty string for a later Write, which may have room from an earlier one.
  virtual std::string TakeBuffer() { return {}; }
  // Bytes queued and not yet accepted by the operating system (or the modelled network).
  virtual size_t unsent_size() const = 0;
  // Stops or resumes OnData, for flow control; reading is enabled by Start.
  virtual void SetReading(bool on) = 0;
  // Sends the queued bytes, then ends the stream; no event follows.
  virtual void Close() = 0;
  virtual Endpoint peer() const = 0;
  // The name that the peer has proven to be its own, possibly empty; none: it has proven no name.
  virtual std::optional<std::string> peer_name() const { return std::nullopt; }
  // True if the bytes cannot be read or changed on the way.
  virtual bool is_encrypted() const { return false; }
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
  // Sends one datagram, or loses it; loss is not an error. A connected socket always sends to its
  // peer and ignores `to`. Errors: kInvalidArgument larger than kDatagramSizeMax.
  virtual Status SendTo(const Endpoint& to, std::string_view bytes) = 0;
  virtual Endpoint local() const = 0;
};

struct DatagramOptions {
  // Address to bind. With a multicast group, the group's port is used and the address is ignored.
  Endpoint bind;
  // Multicast group and port to join; several sockets on one machine may join the same group.
  std::optional<Endpoint> multicast_group;
  // Address of the interface used to join and send multicast. Default: loopback, for a cluster on
  // one machine.
  uint32_t multicast_interface = kLoopbackAddress;
  // Connects the socket: only this peer's datagrams are received. Not with a group.
  std::optional<Endpoint> peer;
  // Connected sockets only: called when a datagram reached the peer's machine but the port was
  // closed. Not called inside SendTo; may destroy the socket.
  std::function<void()> on_refused;
};

struct ListenOptions {
  // Several loops of one node may listen on the same port; each accepts a share of the streams.
  bool share_port = false;
  int backlog = 1024;
  // Descriptors kept for connections that arrive when the process has none left. All but the last
  // are used to accept such connections, the last to close them at once, so that their peers know.
  // Default: 1.
  int spare_count = 1;
  // Called on the loop for each connection closed for lack of descriptors; may be null.
  std::function<void()> on_exhausted{};
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
  // Calls `on_done` exactly once, no later than `deadline` and never inside this call.
  virtual void Connect(const Endpoint& to, TimePoint deadline, ConnectHandler on_done) = 0;
  virtual StatusOr<std::unique_ptr<DatagramSocket>> OpenDatagram(const DatagramOptions& options,
                                                                 DatagramHandler on_datagram) = 0;
  // True if received datagrams were sent by members of the cluster. Otherwise the sender of a
  // datagram may be forged, so that another receives the answer.
  virtual bool knows_senders() const { return false; }
};

}  // namespace neptune
