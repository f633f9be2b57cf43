// A request as its handler sees it: what was sent, how to answer it, and whether the caller still
// wants the answer.
//
// Source: [Shen02] 2.2 (the network side of the request dispatcher).
// Threads: IncomingCall and Reply from any thread.
// Limits: those of the connection that the request came on; see FrameServerOptions.

#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/memory_budget.h"
#include "neptune/sert/request_holdings.h"
#include "neptune/wire/frame.h"
#include "neptune/wire/message_stream.h"
#include "neptune/world/loop.h"

namespace neptune {

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
  // Receives an answer, on the loop of the Reply. `call` is the number passed to the Reply. A taker
  // that only copies the payload leaves it as it is.
  virtual void HandleReply(uint64_t call, const ResponseHeader& header, std::string&& payload) = 0;
  // The request was accepted and will be answered later.
  virtual void HandleAccepted(uint64_t call) {}
  // A counted reference to this taker, for replies that were lent; null: it lends none.
  virtual std::weak_ptr<ReplyTaker> WeakSelf() { return {}; }
};

// Answers one request, once. Destroying it unused answers kInternal. If the taker is gone, the
// answer is dropped.
class Reply {
 public:
  Reply() = default;
  Reply(Loop* loop, std::weak_ptr<ReplyTaker> taker, uint64_t call)
      : loop_(loop), taker_(std::move(taker)), call_(call) {}
  // A lent reply becomes one of its own.
  Reply(Reply&& other) noexcept { *this = std::move(other); }
  // REQUIRES: this one was used or is empty.
  Reply& operator=(Reply&& other) noexcept;
  ~Reply() { Drop(); }

  // Makes this reply one to `call` that refers to its taker without a count. Until it is moved or
  // dropped the taker must live, and only the loop's thread may use the reply.
  // REQUIRES: this one was used or is empty.
  void Lend(Loop* loop, ReplyTaker* taker, uint64_t call) {
    loop_ = loop;
    lent_by_ = taker;
    call_ = call;
  }
  // Answers kInternal unless used.
  void Drop() {
    if (loop_ != nullptr) AnswerDropped();
  }

  // Acknowledges the request, so that the caller knows that the node is alive long before the
  // answer.
  void Accept() const;
  void Send(const ResponseHeader& header, std::string payload) { SendFrom(header, &payload); }
  // The same; where the payload was only copied, `*payload` is left as it is.
  void SendFrom(const ResponseHeader& header, std::string* payload);

 private:
  void AnswerDropped();

  Loop* loop_ = nullptr;           // null: used or empty
  ReplyTaker* lent_by_ = nullptr;  // null: taker_ is the taker
  std::weak_ptr<ReplyTaker> taker_;
  uint64_t call_ = 0;
};

struct IncomingRequest {
  RequestHeader header;
  // Memory of the payload, or of the windows of the stream; released with the request.
  MemoryCharge charge;
  std::string payload;
  TimePoint received;
  TimePoint deadline = kNever;
  std::shared_ptr<IncomingCall> call;
  // The name that the caller's connection has proven, see Stream::peer_name; null: none, or a call
  // of the node's own.
  std::shared_ptr<const std::string> caller = nullptr;
  Reply reply;
  // For the handler, about the names of the request; valid until the handler has returned. Null:
  // they have no number on their connection.
  HandlerNote* note = nullptr;
};

// Handles a request on the server's loop. It moves from the request what it keeps; the rest belongs
// to the connection again once it has returned.
using RequestHandler = absl::AnyInvocable<void(IncomingRequest&&)>;

}  // namespace neptune
