// A protocol as a ReplicaAgent runs it, whether it orders writes or not.
//
//   Step, Tick, Propose, Unreachable ─► decisions ─► DrainActions: send `at_once`, store the change, send `after_stored`,
//   Stored, Restored                ─►                           restore; execute up to Look().committed
//
// Variants: OrderedProtocol (levels 2 and 3, over ReplicaProtocol), CommutativeProtocol (level 1, over CommutativeReplica).
// They add no decisions of their own but when a log's counts are noted and what of it may go.
//
// Source: [Shen02] 5.2.1. No I/O, no clock, no threads.
// Threads: thread-compatible.
// Errors: of Propose: those of the protocol.

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
#include "neptune/replication/commutative_message.h"
#include "neptune/replication/log_outline.h"
#include "neptune/replication/member_actions.h"
#include "neptune/replication/origin_index.h"
#include "neptune/replication/replica_message.h"
#include "neptune/replication/replica_protocol.h"

namespace neptune {

// What a service promises of its replicas; [Shen02] 5.2.1.
enum class ConsistencyLevel : uint8_t {
  kWriteAnywhere = 1,
  kOrderedWrites = 2,
  kStalenessBounded = 3,
};

using ProtocolMessage = std::variant<ReplicaMessage, CommutativeMessage>;
std::string EncodeProtocolMessage(const ProtocolMessage& message);
// Errors: kDataLoss the bytes are no message of this level.
StatusOr<ProtocolMessage> DecodeProtocolMessage(ConsistencyLevel level, std::string_view bytes);

// Entries of the log that follow each other; none if last < first.
struct LogRun {
  Lsn first = 1;
  Lsn last = 0;
};

struct OutgoingMessage {
  MemberIndex to = 0;
  ProtocolMessage message;
  // Entries that are to be put in, in this order: as many of the first of them as fit.
  std::deque<LogRun> entries;
  // What does not fit goes in further messages like this one.
  bool is_repeated = false;
};

using ProtocolActions = MemberActions<OutgoingMessage>;

// A member's log, where that is its own: what goes with its data to another one.
struct LogCopy {
  // What is not here any more: up to here, so many writes of each origin.
  Lsn base = 0;
  OriginCounts counts;
  std::vector<LogEntry> entries;
};

// A copy of a partition's data.
struct ReplicaSnapshot {
  std::deque<std::string> pieces;
  // The last write in them, and its epoch.
  EpochStart base;
  MemberSet write_set;
  // Level 1 alone.
  std::optional<LogCopy> log;
  // Among the snapshots that a node holds at a time; may be null.
  std::shared_ptr<const void> place;
};

// Where a member stands.
struct ReplicaStatus {
  ReplicaRole role = ReplicaRole::kBlank;
  Epoch epoch = 0;
  std::optional<MemberIndex> primary;
  MemberSet write_set;
  // Writes may be executed up to here.
  Lsn committed = 0;
  Lsn last_lsn = 0;
  Epoch last_epoch = 0;  // of that entry
  // Until then this is the primary, and no other one can have been elected; TimePoint::min(): it is not.
  TimePoint leased_until = TimePoint::min();
};

class AgentProtocol {
 public:
  virtual ~AgentProtocol() = default;

  // Takes a message; one that makes no sense, or is of another level, is ignored.
  virtual void Step(MemberIndex from, ProtocolMessage message, TimePoint now) = 0;
  // To be called at NextEvent.
  virtual void Tick(TimePoint now) = 0;
  virtual TimePoint NextEvent() const = 0;
  virtual StatusOr<Lsn> Propose(LogEntry write, TimePoint now) = 0;
  // What was sent to the member last did not arrive, as far as one can see.
  virtual void Unreachable(MemberIndex member, TimePoint now) = 0;

  // As ReplicaProtocol's.
  virtual Status StartByHand(TimePoint now) = 0;

  virtual ProtocolActions DrainActions() = 0;
  virtual void Stored(uint64_t change_number, TimePoint now) = 0;

  // Says what else goes with the data of a snapshot; `log_base` is what the log no longer has. False: the log has moved on.
  // Of a log that goes with them the entries are still to be put in, up to the last one that is stored.
  virtual bool Complete(Lsn log_base, ReplicaSnapshot* snapshot) const = 0;
  // Of one that another member completed: its data are in the place of this one's, or will be.
  virtual void Restored(ReplicaSnapshot snapshot, TimePoint now) = 0;

  // The last entry of those up to `wanted` that may be dropped; 0: none. `is_large`: the log is larger than it should be.
  virtual Lsn LastDroppable(Lsn wanted, bool is_large, TimePoint now) = 0;
  // The log no longer has what is before `first`.
  virtual void Dropped(Lsn first) = 0;

  virtual ReplicaStatus status() const = 0;
  // How current the data are; nullopt: not known, or not to be known.
  virtual std::optional<ReplicaFreshness> freshness() const = 0;
};

}  // namespace neptune
