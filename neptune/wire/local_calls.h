// Calls of one loop to services of its own node. They go by pointer to the node's handler of
// requests: no frame, no socket, no checksum.
//
//   Call ─► IncomingRequest ─ posted task ─► LocalHandler, on a serving loop ─► ... ─► Reply
//    ▲                                                                                    │
//    └─ AnswerSink ◄── on this loop; posted if the request was served on another ◄────────┘
//
// What a connection guarantees holds here too: the sink is never called from inside Call, a call
// that is forgotten is cancelled at the server, requests are charged to the memory budget and
// counted against limits, and messages of a stream arrive in order within its windows. The deadline
// is counted from when the request is sent; it counts as received when its serving loop takes it.
//
// A call from a serving loop is served on that loop, others are spread over the serving loops. Each
// call is a task of its own, so methods that call each other grow no stack; how many may be under
// way is bounded here and by the service host.
//
// Source: [Shen02] 2.2 (a node is a client and a server).
// Threads: the calling loop, except where said; the handler runs on serving loops.
// Errors: see call_channel.h; after Close kUnavailable.
// Limits: LocalCallsOptions. An answer is handed over as it is and is not charged.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "neptune/base/memory_budget.h"
#include "neptune/wire/call_channel.h"
#include "neptune/wire/incoming_call.h"
#include "neptune/wire/wire_memory.h"
#include "neptune/world/loop.h"

namespace neptune {

struct LocalCallsOptions {
  FrameLimits frames;
  // Maximum number of calls in flight, and of open streams among them. Default: those of a
  // connection.
  size_t call_count_max = 10000;
  size_t stream_count_max = 128;
  // Memory of the node. Default: none, and only the limits above bound what is buffered.
  WireMemory memory = {};
};

// Handles a request on any serving loop; several at once.
using LocalHandler = std::function<void(IncomingRequest&&)>;

class LocalCalls final : public CallChannel,
                         public ReplyTaker,
                         public std::enable_shared_from_this<LocalCalls> {
 public:
  // The calls of `loop` are handled by `handler` on the loops `serving`. The handler and the loops
  // outlive the tasks of the loops. REQUIRES: `serving` is not empty.
  LocalCalls(Loop& loop, std::vector<Loop*> serving, const LocalHandler& handler,
             const LocalCallsOptions& options);
  ~LocalCalls() override { Close(); }

  StatusOr<uint64_t> Call(const RequestHeader& header, std::string_view payload,
                          AnswerSink* sink) override;
  void Forget(uint64_t call, bool tell_server) override;
  void SendMessage(uint64_t call, std::string message) override;
  void SendGrant(uint64_t call, uint32_t size) override;
  void SendEnd(uint64_t call) override;
  bool usable() const override { return open_; }

  // Completes every call in flight with kUnavailable. Idempotent.
  void Close();
  // Any thread.
  size_t in_flight_count() const { return in_flight_count_.load(std::memory_order_relaxed); }

  // For the replies to its calls.
  void HandleReply(uint64_t call, const ResponseHeader& header, std::string&& payload) override;
  void HandleAccepted(uint64_t call) override;

 private:
  struct CallInFlight {
    AnswerSink* sink = nullptr;
    std::shared_ptr<IncomingCall> request;
  };

  Status CheckLimits(const RequestHeader& header, size_t payload_size) const;
  Status Charge(const RequestHeader& header, size_t payload_size, MemoryCharge* charge);
  // A place to serve the next call.
  Loop& NextServing();
  // Removes the call; its sink is null if there is none.
  CallInFlight Remove(uint64_t call);
  // The server's end of the call's stream; null: the call has ended.
  MessageStream* ServersEnd(uint64_t call) const;

  Loop& loop_;
  std::vector<Loop*> serving_;  // only loop_ if it is one of them
  const LocalHandler& handler_;
  const LocalCallsOptions options_;
  const std::shared_ptr<MemoryShare> memory_;  // null: bytes are not charged
  // Calls without a large payload, each counted as one of kLargePayloadSize.
  SteppedCharge waiting_charge_;
  absl::flat_hash_map<uint64_t, CallInFlight> calls_;
  std::atomic<size_t> in_flight_count_{0};  // calls_.size()
  size_t stream_count_ = 0;                 // streams in calls_
  size_t next_serving_ = 0;
  uint64_t next_call_ = 1;
  bool open_ = true;
};

}  // namespace neptune
