// The serving side of accepted connections: requests in, answers out in any order, message streams,
// cancellation.
//
//   FrameServer (one a loop) ── listens ──> ServerConnection (one a stream)
//        requests ──> RequestHandler ──> ... ──> Reply::Send (any thread) ──> response frame
//        cancel, lost connection ──> IncomingCall::cancelled(), its actions, the end of its stream
//
// Source: [Shen02] 2.2 (request dispatcher's front).
// Threads: FrameServer on its loop only; IncomingCall and Reply from any thread.
// Limits: FrameServerOptions; what is over a limit is answered kResourceExhausted at once. A peer that
//   does not read its answers is not read from until it does; one that goes on not reading, or never
//   ends the frame it began, is closed; one that asks nothing is told to drain, then closed.

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

// What a request's work shares with its connection: whether anybody still wants it, and the stream if it
// opened one.
class IncomingCall {
 public:
  IncomingCall() = default;
  virtual ~IncomingCall() = default;
  explicit IncomingCall(std::unique_ptr<StreamOutlet> outlet)
      : stream_(std::make_unique<MessageStream>(std::move(outlet))) {}

  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  // Runs `action` once when the call is cancelled, at once if it already is; on the connection's
  // loop or the caller's thread. Actions run in the order they were set. Returns what Forget takes.
  uint64_t OnCancel(Task action);
  // The action will not run any more, unless it runs now on another thread.
  void Forget(uint64_t action);
  // Marks it cancelled; ends its stream; runs the actions. Idempotent.
  void Cancel();

  // The method has returned and was answered; on the thread that ran it, which still has its slot of the
  // pool and may wait here.
  virtual void OnServed() {}
  // Whether the processor time of the method is to be measured; and it took so much, and returned OK. On the thread that
  // ran it.
  virtual bool measures_work() const { return false; }
  virtual void OnWorked(Duration work) {}

  // What is held on behalf of the request.
  const RequestHoldings& holdings() const { return holdings_; }
  // The same for whoever holds something; null for no call.
  static std::shared_ptr<RequestHoldings> HoldingsOf(const std::shared_ptr<IncomingCall>& call) {
    return call == nullptr ? nullptr : std::shared_ptr<RequestHoldings>(call, &call->holdings_);
  }

  // Null unless the request opened a stream.
  MessageStream* stream() const { return stream_.get(); }

  // Whether it is as new: no stream, no action ever, not cancelled. REQUIRES: nobody else refers to it.
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

// The cancellation action of a scope: set at its begin, forgotten at its end. A null call never cancels.
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

// Takes the answers to requests: the connection that they came on, or a part of the runtime that asked its
// own node.
class ReplyTaker {
 public:
  virtual ~ReplyTaker() = default;
  // `call` is the number that the Reply was made with. On the loop that the Reply was made with.
  virtual void HandleReply(uint64_t call, const ResponseHeader& header, std::string payload) = 0;
  // The request was taken and will be answered later.
  virtual void HandleAccepted(uint64_t call) {}
};

// Answers one request, once. Dropping it unused answers kInternal. A taker that is gone is not told.
class Reply {
 public:
  Reply() = default;
  Reply(Loop* loop, std::weak_ptr<ReplyTaker> taker, uint64_t call)
      : loop_(loop), taker_(std::move(taker)), call_(call) {}
  Reply(Reply&& other) noexcept { *this = std::move(other); }
  Reply& operator=(Reply&& other) noexcept;
  ~Reply();

  // Tells the caller that the node lives and has the request, long before its answer.
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

// Takes each request on the server's loop; moves from it what it keeps.
using RequestHandler = absl::AnyInvocable<void(IncomingRequest&&)>;

struct FrameServerOptions {
  // Where it listens; outlives the server. Null: the loop's own network.
  Network* network = nullptr;
  FrameLimits frames;
  // Most accepted connections; one more is closed at once. Default: 4,096.
  size_t connection_count_max = 4096;
  // Most requests of one connection that are not answered yet. Default: 10,000.
  size_t in_flight_count_max = 10000;
  // Most streams of one connection at once. Larger: more memory that slow readers may hold, up to a
  // window and a message each. Default: 128, 160 MiB.
  size_t stream_count_max = 128;
  // Unsent answer bytes at which a connection is no longer read. Default: 4 MiB.
  size_t unsent_size_max = 4 << 20;
  // Most bytes of unfinished frames over all connections; the connection that goes over it is closed.
  // Default: 512 MiB, eight of the largest payloads.
  size_t unfinished_size_max = 512 << 20;
  // Longest time that a frame takes to arrive, and that a peer leaves its answers unread while the
  // connection is not read from. Default: 30 s, a whole payload over a slow link.
  Duration stall_timeout = std::chrono::seconds(30);
  // A connection without calls for this long is told to drain, and closed after stall_timeout more.
  // Default: 10 min, longer than a caller's pauses.
  Duration idle_timeout = std::chrono::minutes(10);
  // Connections closed because of what the peer sent or left unread, and connections over
  // connection_count_max; may be null.
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
  // Accepts nothing more and tells every caller to go elsewhere; calls in flight go on.
  void Drain();
  size_t connection_count() const { return connections_.size(); }
  size_t in_flight_count() const;

 private:
  friend class ServerConnection;
  void Accept(std::unique_ptr<Stream> stream);
  void Remove(uint64_t id);
  void ScheduleMaintenance();
  // Ends connections that stand still.
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
