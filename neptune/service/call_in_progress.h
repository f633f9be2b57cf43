// One call from its start to its answer, including its retries and its hedge. Internal to the
// client.
//
// Source: [Shen02] 2.3, 2.4.
// Threads: one user-level thread.
// Limits: CallOptions::attempts_max servers and one hedge.

#pragma once

#include <memory>

#include "neptune/service/call_path.h"
#include "neptune/service/hedge.h"

namespace neptune {

class CallInProgress {
 public:
  // All that is referred to outlives the call.
  CallInProgress(const ClientSession& session, RequestHeader& header, const Data& request,
                 const CallOptions& options, CallReport* report);

  // On error `response` is unchanged.
  Status Run(Data* response);
  TimePoint begun() const { return path_.begun(); }

 private:
  class PendingAnswer;
  // How far an attempt got; decides whether another one may follow.
  enum class Progress { kNotSent, kSentAndLost, kTimedOut, kAnswered };
  struct Attempt {
    Progress progress = Progress::kNotSent;
    Status status;
  };

  bool MayTryAgain(const Attempt& last);
  Attempt Try(const CallPath::Connected& to);
  ParkResult Wait(const PendingAnswer& answer);
  Attempt Take(StatusOr<CallAnswer>& answer, const Replica& replica);

  bool MayHedge() const;
  void StartHedge();
  bool HedgeAnswered() const { return hedge_ != nullptr && hedge_->answered(); }
  Attempt AdoptHedge();
  // Waits for a running hedge, which takes the place of a retry after the main attempt has failed.
  void AwaitHedge();

  const ClientSession& session_;
  CallPath path_;
  const Data& request_;
  const std::optional<Duration> hedge_after_;
  std::unique_ptr<Hedge> hedge_;
  bool hedge_is_decided_ = false;
  Data* response_ = nullptr;
  CallReport& report_;
};

}  // namespace neptune
