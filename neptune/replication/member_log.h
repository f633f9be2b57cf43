// A member's log as decisions change it: what is in it, what of it is stored and committed, and what is to be stored next.
//
// Decisions count what was appended at once; NextChange hands it out to be stored, and Stored tells that it is.
//
// Source: [Shen02] 5.2.2 (committed and uncommitted part); design 4.9.
// No I/O, no clock.
// Threads: thread-compatible.

#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "neptune/replication/log_position.h"
#include "neptune/replication/replica_protocol.h"

namespace neptune {

class MemberLog : private LogPosition {
 public:
  explicit MemberLog(const LogOutline& found);

  using LogPosition::base;
  using LogPosition::DropBefore;
  using LogPosition::EpochAt;
  using LogPosition::EpochBegin;
  using LogPosition::last_epoch;
  using LogPosition::last_lsn;
  using LogPosition::write_set;
  using LogPosition::WriteSetAt;

  // Up to here the log is durable on this member; up to here it is known to be committed.
  Lsn stored() const { return stored_; }
  Lsn committed() const { return committed_; }
  // See ReplicaProtocol::committed.
  Lsn executable() const { return std::min(committed_, stored_); }
  const std::optional<ReplicaFreshness>& freshness() const { return freshness_; }

  // REQUIRES: entry.lsn == last_lsn() + 1.
  void Append(LogEntry entry);
  // Takes what is new of a primary's entries, and what it tells of the others. `fits`: both logs are the same up to `matched`;
  // else the primary is to look there. Nullopt: it makes no sense, as from a sender that contradicts what is committed.
  struct Match {
    bool fits = false;
    Lsn matched = 0;
  };
  std::optional<Match> Take(ReplicaMessage& append);
  // It is committed up to here, or further.
  void Commit(Lsn lsn) { committed_ = std::max(committed_, lsn); }
  // Everything goes; the data end with `base`.
  void Restart(const EpochStart& base, MemberSet write_set);
  // To be stored with the next change.
  void Promise(const HardState& promise) { change_.promise = promise; }

  // What is to be stored; `number` is the change's, or that of the last one if there is nothing.
  LogChange NextChange(uint64_t* number);
  // Changes are stored in order.
  void Stored(uint64_t number);

 private:
  struct PendingChange {
    uint64_t number = 0;
    Lsn last_lsn = 0;
  };

  bool AdoptEntries(ReplicaMessage& append);
  void Learn(const ReplicaMessage& append, Lsn matched);
  void DropFrom(Lsn lsn);

  Lsn committed_ = 0;
  Lsn stored_ = 0;
  std::optional<ReplicaFreshness> freshness_;
  LogChange change_;
  uint64_t change_number_ = 0;
  std::deque<PendingChange> pending_;
};

}  // namespace neptune
