// The way of one call to a server: replicas of the partition one after the other, until a connection to one
// is there. Each try is a visit to a dependency capsule.
//
// Source: [Shen02] 2.2 (yellow page, polling agent), 2.4 (three retries); [Chu05] IV.A.
// Threads: one user-level thread.
// Errors: kUnavailable no live replica; kDeadlineExceeded; kCancelled the node stops or the session's own
//   caller is gone; else the last error of an attempt, or of the capsules that turned all of them away.
// Limits: CallOptions::attempts_max servers.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neptune/capsule/capsule_permit.h"
#include "neptune/service/client.h"
#include "neptune/service/retry_budget.h"

namespace neptune {

// What an answer, or its absence, says of the dependency.
CapsuleOutcome OutcomeOf(const Status& status);

// What a call to the replica is, for its capsule.
NetworkOperation OperationOf(const RequestHeader& header, const Replica& replica);

class CallPath {
 public:
  CallPath(const ClientSession& session, RequestHeader header, const CallOptions& options,
           CallReport* report);
  ~CallPath();

  struct Connected {
    Replica replica;
    std::shared_ptr<ClientConnection> connection;
  };
  // A connection to a replica that was not tried yet; all again, after a pause, when all were.
  StatusOr<Connected> Next();
  // The attempt with what Next gave failed with this, and another may follow.
  void Failed(const Status& status);
  // The server answered. What load balancing and capsule learn of an attempt they learn here, by Failed, or at the end
  // of the path, which without either means that the answer was not waited for.
  void Answered(const ResponseHeader& header);
  // The attempt is under way and goes on for as long as the caller likes, as a stream does.
  void Detach();
  // The answer is not waited for any more, although it may come in time: nobody's failure.
  void GiveUp();
  // Whether what was sent may be sent once more: takes from the budget, and marks the request.
  bool SpendRetry();

  // Writes the time that is left into the header. Errors: kDeadlineExceeded none is.
  StatusOr<std::string> EncodeHeader();
  // What the caller's wait ended with, if it ended without an answer.
  Status WhyEnded(ParkResult result) const;
  bool cancelled() const { return session_.caller() != nullptr && session_.caller()->cancelled(); }

  const RequestHeader& header() const { return header_; }
  // Of the attempt under way: the call's, or its capsule's.
  TimePoint deadline() const { return attempt_deadline_; }
  // Nodes that are not asked now, for they were or may not be.
  const std::vector<NodeId>& tried() const { return tried_; }
  // Whether there is time, and a replica that was not tried.
  bool MayTryAnother() const;
  // "service/partition.method"
  std::string Target() const;
  Status LastError() const;

 private:
  std::optional<Replica> ChooseReplica();
  std::optional<Replica> NamedReplica(const std::vector<Replica>& replicas) const;
  StatusOr<Connected> Connect(const Replica& replica);
  Status EnterCapsule(Replica* replica);
  void FollowMigration(Replica* replica);
  bool AllTurnedAway() const;
  void LoseChoice(bool failed);
  void LeaveCapsule(CapsuleOutcome outcome);

  const ClientSession& session_;
  Loop& loop_;
  LoopClient& client_;
  RetryBudget& budget_;
  RequestHeader header_;
  const TimePoint deadline_;
  TimePoint attempt_deadline_;
  int attempts_left_;
  const std::optional<NodeId> only_;
  const bool has_exceptions_;
  CallReport& report_;
  std::vector<NodeId> tried_;
  size_t turned_away_count_ = 0;         // by capsules, since the last attempt
  std::optional<ReplicaChoice> choice_;  // not yet concluded
  CapsulePermit visit_;                  // of the attempt under way
  Holding place_;                        // in its capsule
  Status last_error_;                    // OK: nothing failed yet
};

}  // namespace neptune
