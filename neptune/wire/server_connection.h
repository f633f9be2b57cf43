// The serving side of accepted connections: requests in, answers out in any order, message streams,
// cancellation.
//
//   FrameServer (one per loop) ── listens ──> ServerConnection (one per stream)
//        requests ──> RequestHandler ──> ... ──> Reply::Send (any thread) ──> response frame
//        cancel, lost connection ──> IncomingCall::cancelled(), its actions, the end of its stream
//
// Source: [Shen02] 2.2 (the network side of the request dispatcher).
// Threads: the loop only.
// Limits: FrameServerOptions; a request over a limit is answered kResourceExhausted at once. While
//   a peer does not read its answers, its connection is not read. The connection is closed if that
//   lasts too long, or if a frame stays incomplete; an idle connection is asked to drain, then
//   closed. A request whose payload finds no memory is answered kResourceExhausted without being
//   buffered, and an answer that finds none becomes that error; while memory is short, the
//   connection with the most unread answers is closed. At the limit of connections the one idle for
//   the longest time gives its place to a new one; if none is idle, the new one is closed. If
//   the process has no descriptor left, new ones get spare ones, then those of idle connections.

#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "neptune/base/metrics.h"
#include "neptune/wire/connection_choice.h"
#include "neptune/wire/connection_slots.h"
#include "neptune/wire/frame.h"
#include "neptune/wire/incoming_call.h"
#include "neptune/wire/wire_memory.h"
#include "neptune/world/network.h"
#include "neptune/world/world.h"

namespace neptune {

class ServerConnection;

// Descriptors that each server keeps for connections that come when the process has none left; the
// last of them closes a connection at once.
inline constexpr int kServerSpareDescriptorCount = 8;

struct FrameServerOptions {
  // Network to listen on; outlives the server. Null: the loop's own network.
  Network* network = nullptr;
  FrameLimits frames;
  // Maximum number of connections of this server. Default: 4,096.
  size_t connection_count_max = 4096;
  // Connections of all servers of the node; null: only connection_count_max limits them.
  std::shared_ptr<ConnectionSlots> slots = nullptr;
  // Memory of the node. Default: none, and only the limits below bound what is buffered.
  WireMemory memory = {};
  // Time without progress after which a peer that does not read its answers may be closed to make
  // room while memory is short. Default: 2 s, longer than a slow link or a paused process stalls.
  Duration pressure_grace = std::chrono::seconds(2);
  // Maximum number of unanswered requests per connection. Default: 10,000.
  size_t in_flight_count_max = 10000;
  // Maximum number of open streams per connection. Larger: slow readers may hold more memory, up to
  // a window and a message each. Default: 128, i.e. 160 MiB.
  size_t stream_count_max = 128;
  // Number of unsent answer bytes above which a connection is not read. Default: 4 MiB.
  size_t unsent_size_max = 4 << 20;
  // Maximum size of incomplete frames over all connections; a connection that exceeds it is closed.
  // Default: 512 MiB, eight payloads of maximum size.
  size_t unfinished_size_max = 512 << 20;
  // Maximum time for a frame to arrive, and for a peer to leave its answers unread while its
  // connection is not read. Default: 30 s, a whole payload over a slow link.
  Duration stall_timeout = std::chrono::seconds(30);
  // A connection without calls for this long is asked to drain, and closed stall_timeout later.
  // Default: 10 min, longer than a caller's pauses.
  Duration idle_timeout = std::chrono::minutes(10);
  // Count connections closed because of malformed input or unread answers, and connections refused
  // over connection_count_max; may be null.
  Counter* broken_connections = nullptr;
  Counter* refused_connections = nullptr;
};

class FrameServer {
 public:
  FrameServer(Loop& loop, const FrameServerOptions& options, RequestHandler handler);
  ~FrameServer();
  FrameServer(const FrameServer&) = delete;
  FrameServer& operator=(const FrameServer&) = delete;

  Status Listen(const Endpoint& at, bool share_port);
  Endpoint local() const { return listener_->local(); }
  // Stops accepting connections and asks every caller to drain; calls in flight go on.
  void Drain();
  size_t connection_count() const { return connections_.size(); }
  size_t in_flight_count() const;

 private:
  friend class ServerConnection;
  void Accept(std::unique_ptr<Stream> stream);
  void Remove(uint64_t id);
  // A connection was closed at once.
  void NoteRefused() const;
  void ScheduleMaintenance();
  // Ends stalled and idle connections.
  void Maintain();
  // Closes a connection that does not read its answers, if there is one, in a later task.
  void RelieveSoon();
  // Makes room for a new connection by ending an idle one; false: none is idle.
  bool EvictIdle();
  using Ids = std::vector<uint64_t>;
  std::vector<ConnectionStanding> Standings(Ids* ids) const;

  Loop& loop_;
  const FrameServerOptions options_;
  RequestHandler handler_;
  std::unique_ptr<Listener> listener_;
  std::map<uint64_t, std::shared_ptr<ServerConnection>> connections_;
  uint64_t next_id_ = 1;
  size_t unfinished_size_ = 0;
  TimerId maintenance_timer_ = 0;
  TimePoint relieved_at_{};  // when a connection to be closed was last looked for
};

}  // namespace neptune
