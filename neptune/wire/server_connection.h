// The serving side of accepted connections: requests in, answers out in any order, message streams,
// cancellation.
//
//   FrameServer (one per loop) ── listens ──> ServerConnection (one per stream)
//        requests ──> RequestHandler ──> ... ──> Reply::Send (any thread) ──> response frame
//        cancel, lost connection ──> IncomingCall::cancelled(), its actions, the end of its stream
//
// Source: [Shen02] 2.2 (the network side of the request dispatcher).
// Threads: FrameServer on its loop only; IncomingCall and Reply from any thread.
// Limits: FrameServerOptions; a request over a limit is answered kResourceExhausted at once. While
//   a peer does not read its answers, its connection is not read. The connection is closed if that
//   lasts too long, or if a frame stays incomplete; an idle connection is asked to drain, then
//   closed.

#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/metrics.h"
#include "neptune/sert/request_holdings.h"
#include "neptune/wire/frame.h"
#include "neptune/wire/message_stream.h"
#include "neptune/world/network.h"
#include "neptune/world/world.h"

namespace neptune {

class ServerConnection;

// State that a request's work shares with its connection: cancellation, and the stream if it opened
// one.
class IncomingCall {
 public:
  IncomingCall() = default;
  virtual ~IncomingCall() = default;
  explicit IncomingCall(std::unique_ptr<StreamOutlet> outlet)
      : stream_(std::make_unique<MessageStream>(std::move(outlet))) {}

  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  // Runs `action` once when the call is cancelled, or at once if it already is; on the connection's
  // loop or on the calling thread. Actions run in the order they were added. Returns the argument
  // for Forget.
  uint64_t OnCancel(Task action);
  // Removes the action; it may still be running on another thread.
  void Forget(uint64_t action);
  // Marks the call cancelled, ends its stream, runs the actions. Idempotent.
  void Cancel();

  // Called after the method has returned and its answer was sent, on the thread that ran it. That
  // thread still holds its slot of the pool and may wait here.
  virtual void OnServed() {}
  // If measures_work, OnWorked receives the processor time of a method that returned OK, on the
  // thread that ran it.
  virtual bool measures_work() const { return false; }
  virtual void OnWorked(Duration work) {}

  // Resources held on behalf of the request.
  const RequestHoldings& holdings() const { return holdings_; }
  // The same as a pointer that keeps the call alive; null if `call` is null.
  static std::shared_ptr<RequestHoldings> HoldingsOf(const std::shared_ptr<IncomingCall>& call) {
    return call == nullptr ? nullptr : std::shared_ptr<RequestHoldings>(call, &call->holdings_);
  }

  // Null unless the request opened a stream.
  MessageStream* stream() const { return stream_.get(); }

  // True if the object may be recycled: no stream, no cancel action ever set, not cancelled.
  // REQUIRES: the caller holds the only reference.
  bool untouched() const ABSL_NO_THREAD_SAFETY_ANALYSIS;

 private:
  static constexpr uint64_t kFirstAction = 1;

  const std::unique_ptr<MessageStream> stream_;
  std::atomic<bool> cancelled_{false};
  RequestHoldings holdings_;
  LeafMutex mutex_;
  uint64_t next_action_ ABSL_GUARDED_BY(mutex_) = kFirstAction;
  std::vector<std::pair<uint64_t, Task>> actions_ ABSL_GUARDED_BY(mutex_);
};

// A cancellation action for the duration of a scope. A null call is never cancelled.
class CancelAction {
 public:
  CancelAction(IncomingCall* call, Task action)
      : call_(call), action_(call == nullptr ? 0 : call->OnCancel(std::move(action))) {}
  ~CancelAction() {
    if (call_ != nullptr) call_->Forget(action_);
  }
  CancelAction(const CancelAction&) = delete;
  CancelAction& operator=(const CancelAction&) = delete;

 private:
  IncomingCall* const call_;
  const uint64_t action_;
};

// Receives the answers to requests: the connection that they came on, or a component that called
// its own node.
class ReplyTaker {
 public:
  virtual ~ReplyTaker() = default;
  // Receives an answer, on the loop of the Reply. `call` is the number passed to the Reply.
  virtual void HandleReply(uint64_t call, const ResponseHeader& header, std::string payload) = 0;
  // The request was accepted and will be answered later.
  virtual void HandleAccepted(uint64_t call) {}
};

// Answers one request, once. Destroying it unused answers kInternal. If the taker is gone, the
// answer is dropped.
class Reply {
 public:
  Reply() = default;
  Reply(Loop* loop, std::weak_ptr<ReplyTaker> taker, uint64_t call)
      : loop_(loop), taker_(std::move(taker)), call_(call) {}
  Reply(Reply&& other) noexcept { *this = std::move(other); }
  Reply& operator=(Reply&& other) noexcept;
  ~Reply();

  // Acknowledges the request, so that the caller knows that the node is alive long before the
  // answer.
  void Accept() const;
  void Send(const ResponseHeader& header, std::string payload);

 private:
  Loop* loop_ = nullptr;  // null: used or empty
  std::weak_ptr<ReplyTaker> taker_;
  uint64_t call_ = 0;
};

struct IncomingRequest {
  RequestHeader header;
  std::string payload;
  TimePoint received;
  TimePoint deadline = kNever;
  std::shared_ptr<IncomingCall> call;
  Reply reply;
};

// Handles a request on the server's loop.
using RequestHandler = absl::AnyInvocable<void(IncomingRequest&&)>;

struct FrameServerOptions {
  // Network to listen on; outlives the server. Null: the loop's own network.
  Network* network = nullptr;
  FrameLimits frames;
  // Maximum number of connections; further ones are closed at once. Default: 4,096.
  size_t connection_count_max = 4096;
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
  void ScheduleMaintenance();
  // Ends stalled and idle connections.
  void Maintain();

  Loop& loop_;
  const FrameServerOptions options_;
  RequestHandler handler_;
  std::unique_ptr<Listener> listener_;
  std::map<uint64_t, std::shared_ptr<ServerConnection>> connections_;
  uint64_t next_id_ = 1;
  size_t unfinished_size_ = 0;
  TimerId maintenance_timer_ = 0;
};

}  // namespace neptune
