// Chooses a server for one call: tries replicas of the partition one after the other until a
// connection is open. Each attempt is a visit to a dependency capsule.
//
// Source: [Shen02] 2.2 (yellow page, polling agent), 2.4 (three retries); [Chu05] IV.A.
// Threads: one user-level thread.
// Errors: kUnavailable no live replica; kDeadlineExceeded; kCancelled the node stops or the
//   session's own caller is gone; otherwise the last error of an attempt, or of the capsules if
//   they refused all.
// Limits: CallOptions::attempts_max servers.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "neptune/capsule/capsule_permit.h"
#include "neptune/sert/request_holdings.h"
#include "neptune/service/client.h"
#include "neptune/service/loop_client.h"
#include "neptune/service/node_loops.h"
#include "neptune/service/retry_budget.h"
#include "neptune/wire/frame.h"
#include "neptune/wire/incoming_call.h"

namespace neptune {

// The outcome that a call with this status reports to the capsule of its dependency.
CapsuleOutcome OutcomeOf(const Status& status);

// Describes a call to the replica for its capsule.
NetworkOperation OperationOf(const RequestHeader& header, const Replica& replica);

class CallPath {
 public:
  // The header and the report outlive the path, which completes them.
  CallPath(const ClientSession& session, RequestHeader& header, const CallOptions& options,
           CallReport* report);
  ~CallPath();

  // When the call began.
  TimePoint begun() const { return begun_; }

  struct Connected {
    const Replica* replica = nullptr;  // until the next call of Next
    std::shared_ptr<CallChannel> channel;
  };
  // Chooses a replica that was not tried yet, and connects to it unless it is on this node; after
  // all were tried, pauses and starts over.
  StatusOr<Connected> Next();
  // Reports that the attempt on the connection from Next failed; another attempt may follow.
  void Failed(const Status& status);
  // Reports that the server answered at `now`. Load balancing and the capsule are notified of an
  // attempt's outcome by this, by Failed, or by the destructor; the destructor alone means that the
  // answer was abandoned.
  void Answered(const ResponseHeader& header, TimePoint now);
  // Releases the attempt, which continues without a time limit of the path, as an open stream does.
  void Detach();
  // Abandons the attempt, although its answer could still arrive in time; counts as no failure.
  void GiveUp();
  // Returns true if a request that was sent may be sent again; charges the budget and marks the
  // request.
  bool SpendRetry();

  // Sets the header's time that is left. Errors: kDeadlineExceeded no time is left.
  Status SetTimeLeft();
  // The error of a wait that ended without an answer.
  Status WhyEnded(ParkResult result) const;
  bool cancelled() const { return session_.caller() != nullptr && session_.caller()->cancelled(); }

  const RequestHeader& header() const { return header_; }
  // Deadline of the current attempt: the call's or its capsule's, whichever is earlier.
  TimePoint deadline() const { return attempt_deadline_; }
  // Nodes already tried or excluded by the caller.
  const std::vector<NodeId>& tried() {
    NoteTried();
    return tried_;
  }
  // True if time is left and some replica was not tried yet.
  bool MayTryAnother();
  // "service/partition.method"
  std::string Target() const;
  Status LastError() const;

 private:
  // Null: there is none. Sets view_.
  const Replica* ChooseReplica();
  const Replica* NamedReplica(const std::vector<Replica>& replicas) const;
  StatusOr<Connected> Connect(const Replica& replica);
  Status EnterCapsule(const Replica** replica);
  void FollowMigration(const Replica** replica);
  bool AllTurnedAway() const;
  // The replica of the attempt becomes one of tried_.
  void NoteTried();
  // The time, which is read only if something was waited for since it was last read.
  TimePoint Now() {
    if (!now_) now_ = loop_.Now();
    return *now_;
  }
  void LoseChoice(bool failed);
  void LeaveCapsule(CapsuleOutcome outcome);

  CallPath(const ClientSession& session, NodeLoop& here, RequestHeader& header,
           const CallOptions& options, CallReport* report);

  const ClientSession& session_;
  Loop& loop_;
  LoopClient& client_;
  RequestHeader& header_;
  LoopClient::Target target_;
  const YellowPageView* target_view_;  // of target_
  const TimePoint begun_;
  const TimePoint deadline_;
  TimePoint attempt_deadline_;
  int attempts_left_;
  const std::optional<NodeId> only_;
  const bool has_exceptions_;
  CallReport& report_;
  std::vector<NodeId> tried_;
  std::optional<TimePoint> now_;                // unset: something was waited for
  std::shared_ptr<const YellowPageView> view_;  // of the latest choice
  const Replica* trying_ = nullptr;             // in view_; not in tried_ yet
  size_t turned_away_count_ = 0;                // by capsules, since the last attempt
  std::optional<ReplicaChoice> choice_;         // not yet concluded
  CapsulePermit visit_;                         // of the current attempt
  Holding place_;                               // in that capsule
  Status last_error_;                           // OK: nothing failed yet
};

}  // namespace neptune
