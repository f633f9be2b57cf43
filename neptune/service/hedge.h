// The second server that a read is asked of while the first one has not answered.
//
//   caller's thread    waits for the first server ───────────► takes the first good answer, stops the other one
//   thread of its own      └─ after a while: Hedge asks another replica ─┘
//
// The usual remedy for slow tails.
// Threads: user-level threads of one loop. The hedge's own may outlive the call.
// Limits: one server, one try.

#pragma once

#include <memory>
#include <vector>

#include "neptune/service/client.h"

namespace neptune {

class Hedge {
 public:
  // Asks a replica that is not on `except`; null if there is no thread for it. The caller's thread is woken when it
  // has ended.
  static std::unique_ptr<Hedge> Start(const ClientSession& session, const RequestHeader& header,
                                      const Data& request, TimePoint deadline,
                                      const std::vector<NodeId>& except);
  // Stops it if it goes on.
  ~Hedge();
  Hedge(const Hedge&) = delete;
  Hedge& operator=(const Hedge&) = delete;

  bool ended() const { return shared_->ended; }
  bool answered() const { return shared_->ended && shared_->status.ok(); }
  // Once it has ended.
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
