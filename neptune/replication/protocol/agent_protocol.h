// The interface of a replication protocol, ordered or not, that ReplicaAgent runs.
//
//   Step, Tick, Propose, Unreachable ─► decisions ─► DrainActions: send `at_once`, store the
//   Stored, Restored                ─►               change, send `after_stored`, restore;
//                                                    execute up to status().committed
//
// Variants: OrderedProtocol (levels 2 and 3, over ReplicaProtocol) and CommutativeProtocol (level
// 1, over CommutativeReplica). They only add when to write origin counts to the log and how much of
// the log may be dropped.
//
// Source: [Shen02] 5.2.1. No I/O, no clock, no threads.
// Threads: thread-compatible.
// Errors: Propose returns those of the protocol.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/replication/log/log_outline.h"
#include "neptune/replication/log/origin_index.h"
#include "neptune/replication/protocol/commutative_message.h"
#include "neptune/replication/protocol/member_actions.h"
#include "neptune/replication/protocol/replica_message.h"
#include "neptune/replication/protocol/replica_protocol.h"

namespace neptune {

// Consistency level of a service; [Shen02] 5.2.1.
enum class ConsistencyLevel : uint8_t {
  kWriteAnywhere = 1,
  kOrderedWrites = 2,
  kStalenessBounded = 3,
};

using ProtocolMessage = std::variant<ReplicaMessage, CommutativeMessage>;
std::string EncodeProtocolMessage(const ProtocolMessage& message);
// Errors: kDataLoss the bytes are not a message of this level.
StatusOr<ProtocolMessage> DecodeProtocolMessage(ConsistencyLevel level, std::string_view bytes);

// A contiguous range of log entries; empty if last < first.
struct LogRun {
  Lsn first = 1;
  Lsn last = 0;
};

struct OutgoingMessage {
  MemberIndex to = 0;
  ProtocolMessage message;
  // Entries to include, in this order: the longest prefix that fits into a message.
  std::deque<LogRun> entries;
  // Send the entries that do not fit in further copies of this message.
  bool is_repeated = false;
};

using ProtocolActions = MemberActions<OutgoingMessage>;

// The log part of a snapshot (write_anywhere only, where each member has its own log).
struct LogCopy {
  // The entries up to `base` were dropped; `counts` is the number of writes of each origin in them.
  Lsn base = 0;
  OriginCounts counts;
  std::vector<LogEntry> entries;
};

// A copy of a partition's data.
struct ReplicaSnapshot {
  std::deque<std::string> pieces;
  // The last write in the data, and its epoch.
  EpochStart base;
  MemberSet write_set;
  // Level 1 only.
  std::optional<LogCopy> log;
  // Holds one of the node's SnapshotPlaces; may be null.
  std::shared_ptr<const void> place;
};

// State of a member.
struct ReplicaStatus {
  ReplicaRole role = ReplicaRole::kBlank;
  Epoch epoch = 0;
  std::optional<MemberIndex> primary;
  MemberSet write_set;
  // Writes up to here may be executed.
  Lsn committed = 0;
  Lsn last_lsn = 0;
  Epoch last_epoch = 0;  // epoch of the entry at last_lsn
  // Until then this member is the primary and no other can have been elected; TimePoint::min(): no
  // lease.
  TimePoint leased_until = TimePoint::min();
};

class AgentProtocol {
 public:
  virtual ~AgentProtocol() = default;

  // Handles a message; ignores an invalid one or one of another level.
  virtual void Step(MemberIndex from, ProtocolMessage message, TimePoint now) = 0;
  // The caller must call Tick at NextEvent.
  virtual void Tick(TimePoint now) = 0;
  virtual TimePoint NextEvent() const = 0;
  virtual StatusOr<Lsn> Propose(LogEntry write, TimePoint now) = 0;
  // Reports that the last message to the member probably did not arrive.
  virtual void Unreachable(MemberIndex member, TimePoint now) = 0;

  // See ReplicaProtocol::StartByHand.
  virtual Status StartByHand(TimePoint now) = 0;

  virtual ProtocolActions DrainActions() = 0;
  virtual void Stored(uint64_t change_number, TimePoint now) = 0;

  // Fills in what a snapshot needs beside its data; `log_base` is the last dropped entry. False:
  // the member cannot give a snapshot, or its log no longer has what is needed. If the snapshot
  // gets a log, the caller must add the entries up to the last stored one.
  virtual bool Complete(Lsn log_base, ReplicaSnapshot* snapshot) const = 0;
  // Reports that this member's data have been, or will be, replaced by those of a snapshot that
  // another member completed.
  virtual void Restored(ReplicaSnapshot snapshot, TimePoint now) = 0;

  // The last entry up to `wanted` that may be dropped; 0: none. `is_large`: the log exceeds its
  // size limit.
  virtual Lsn LastDroppable(Lsn wanted, bool is_large, TimePoint now) = 0;
  // Reports that the log no longer has the entries before `first`.
  virtual void Dropped(Lsn first) = 0;

  virtual ReplicaStatus status() const = 0;
  // How current the data are; nullopt: not known yet, or level 1, where it never is.
  virtual std::optional<ReplicaFreshness> freshness() const = 0;
};

}  // namespace neptune
