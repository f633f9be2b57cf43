// The way of one call to a server: replicas of the partition one after the other, until a connection to one
// is there.
//
// Source: dissertation 2.2 (yellow page, polling agent), 2.4 (three retries).
// Layer: service.
// Threads: one user-level thread.
// Errors: kUnavailable no live replica; kDeadlineExceeded; kCancelled the node stops or the session's own
//   caller is gone; else the last error of an attempt.
// Limits: CallOptions::attempts_max servers.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neptune/service/client.h"

namespace neptune {

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
  // The server answered. What load balancing learns of an attempt it learns here, by Failed, or at the end of
  // the path, which without either means that the answer was not waited for.
  void Answered(const ResponseHeader& header);
  // The attempt is under way and goes on for as long as the caller likes, as a stream does.
  void Detach();

  // Writes the time that is left into the header. Errors: kDeadlineExceeded none is.
  StatusOr<std::string> EncodeHeader();
  // What the caller's wait ended with, if it ended without an answer.
  Status WhyEnded(ParkResult result) const;
  bool cancelled() const { return session_.caller() != nullptr && session_.caller()->cancelled(); }

  const RequestHeader& header() const { return header_; }
  TimePoint deadline() const { return deadline_; }
  // "service/partition.method"
  std::string Target() const;

 private:
  std::optional<Replica> ChooseReplica();

  const ClientSession& session_;
  Loop& loop_;
  LoopClient& client_;
  RequestHeader header_;
  const TimePoint deadline_;
  int attempts_left_;
  const std::optional<NodeId> only_;
  CallReport& report_;
  std::vector<NodeId> tried_;
  std::optional<ReplicaChoice> choice_;  // not yet concluded
  Status last_error_;
};

}  // namespace neptune
