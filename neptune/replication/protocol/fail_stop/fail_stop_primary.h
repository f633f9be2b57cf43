// The work of a primary in the paper's protocol: sending its log, keeping the write set to the
// members that are alive, committing what all of them have, handing over.
//
// Invariant: a write is committed when every member of the write set has stored it.
//
// Source: [Shen02] 5.2.2.
// No I/O, no clock, no threads.
// Threads: thread-compatible.

#pragma once

#include <vector>

#include "neptune/base/status.h"
#include "neptune/replication/protocol/fail_stop/fail_stop_options.h"
#include "neptune/replication/protocol/fail_stop/fail_stop_roster.h"
#include "neptune/replication/protocol/member_log.h"
#include "neptune/replication/protocol/replica_group.h"
#include "neptune/replication/protocol/replica_outbox.h"

namespace neptune {

class FailStopPrimary {
 public:
  // All arguments must outlive this object.
  FailStopPrimary(const ReplicaGroup& group, const FailStopReplicaOptions& options, MemberLog& log,
                  ReplicaOutbox& outbox, const FailStopRoster& roster);

  // This member has become the primary of the epoch. The live members that take part are the first
  // write set.
  void Begin(Epoch epoch, TimePoint now);
  // The member has restarted.
  void Forget(MemberIndex member);
  // Schedules an append to every member, empty if there is nothing to send.
  void OweAll();

  // Appends a write. Errors: kResourceExhausted too many uncommitted writes.
  Status Append(LogEntry write, Epoch epoch);
  // Takes an answer to an append.
  void Record(MemberIndex from, const ReplicaMessage& answer, TimePoint now);
  // Draws the conclusions: write set, commits, messages.
  void Serve(Epoch epoch, TimePoint now);
  // Sends everything to the successor, and then hands over to it; called instead of Serve.
  void HandOver(MemberIndex to, Epoch epoch, TimePoint now);

  // Relies on the assumption that a node that counts as stopped has stopped. A primary has a lease
  // once an entry of its epoch is executable, and with it everything that was committed before.
  bool is_leased() const { return log_.executable() >= epoch_begin_; }
  // Every member of the write set has the entries before this one.
  Lsn needed_from() const;

 private:
  struct Peer {
    // The logs are known to match up to `matched`; `next` is sent next.
    Lsn matched = 0;
    Lsn next = 1;
    TimePoint resend_at{};  // an append is in flight; no other is sent before this
    Lsn sent_committed = 0;
    bool is_owed = false;  // an append, possibly empty, must be sent
    // The entry that added the member to the write set in its current incarnation; 0: none.
    Lsn admitted = 0;
    TimePoint progress_at{};  // when it last had everything, or more than before
    int64_t member_stamp = 0;
  };

  void SendAppend(MemberIndex to, Epoch epoch, bool is_leased, TimePoint now);
  void MaintainWriteSet(Epoch epoch, TimePoint now);
  void Commit();

  const ReplicaGroup& group_;
  const FailStopReplicaOptions& options_;
  MemberLog& log_;
  ReplicaOutbox& outbox_;
  const FailStopRoster& roster_;
  std::vector<Peer> peers_;
  Lsn epoch_begin_ = 0;  // the first entry of this primary's epoch
};

}  // namespace neptune
