// Hedged read: the same request sent to a second replica because the first one has not answered
// yet.
//
//   caller's thread   waits for the first server ────► takes the first good answer, stops the other
//   hedge's thread        └─ after hedge_after: Hedge calls another replica ─┘
//
// Hedging is the usual remedy for tail latency.
// Threads: user-level threads of one loop. The hedge's own thread may outlive the call.
// Limits: one server, one attempt.

#pragma once

#include <memory>
#include <vector>

#include "neptune/service/client.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/incoming_call.h"

namespace neptune {

class Hedge {
 public:
  // Calls a replica that is not in `except`, and wakes the caller's thread when that call has
  // ended. Returns null if no thread could be started.
  static std::unique_ptr<Hedge> Start(const ClientSession& session, const RequestHeader& header,
                                      const Data& request, TimePoint deadline,
                                      const std::vector<NodeId>& except);
  // Cancels the call if it has not ended.
  ~Hedge();
  Hedge(const Hedge&) = delete;
  Hedge& operator=(const Hedge&) = delete;

  bool ended() const { return shared_->ended; }
  bool answered() const { return shared_->ended && shared_->status.ok(); }
  // REQUIRES: ended().
  const Status& status() const { return shared_->status; }
  const CallReport& report() const { return shared_->report; }
  Data ReleaseResponse() { return std::move(shared_->response); }

 private:
  struct Shared {
    std::shared_ptr<IncomingCall> until = std::make_shared<IncomingCall>();
    ThreadRef caller;
    bool ended = false;
    Status status;
    Data response;
    CallReport report;
  };
  explicit Hedge(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  const std::shared_ptr<Shared> shared_;
};

}  // namespace neptune
