// A protocol by which the replicas of a partition agree on their writes: a state machine without
// I/O.
//
//   Handle(event), Propose ─► decisions ─► DrainActions: send `at_once`, store the change, send
//                                          `after_stored`, restore; execute up to
//                                          status().committed
//
// Variants: SafeReplica (safe/safe_replica.h), the default; FailStopReplica
// (fail_stop/fail_stop_replica.h), the paper's; CommutativeProtocol (commutative_protocol.h), for
// writes that commute.
//
// Source: [Shen02] 5.2.
// No I/O, no clock, no threads: replica_agent.h drives it.
// Threads: thread-compatible.

#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/replication/log/log_entry.h"
#include "neptune/replication/protocol/protocol_actions.h"
#include "neptune/replication/protocol/protocol_message.h"
#include "neptune/replication/protocol/replica_snapshot.h"
#include "neptune/replication/protocol/replica_status.h"

namespace neptune {

// The events that a protocol handles.

// An invalid message, or one of another level, is ignored.
struct MessageReceived {
  MemberIndex from = 0;
  ProtocolMessage message;
};
// Reported at NextEvent at the latest.
struct TimePassed {};
// The last message to the member probably did not arrive.
struct MemberUnreachable {
  MemberIndex member = 0;
};
// The change of this number, and with it all earlier ones, is durable. Storing took this long since
// the device was asked.
struct ChangeStored {
  uint64_t number = 0;
  Duration took{0};
};
// This member's data have been, or will be, replaced by those of another member, which marked them.
// They count only once the change that follows is stored: data must never be ahead of their log. At
// `write_anywhere` the mark has the whole log, or none if LogReplaced and LogExtended came before.
struct DataRestored {
  SnapshotMark mark;
};
// `write_anywhere`: another member's log begins to replace this one's, with these entries.
struct LogReplaced {
  LogCopy log;
};
// `write_anywhere`: further entries of that log. `is_whole`: they were the last ones; the data may
// be ended once all are stored.
struct LogExtended {
  std::vector<LogEntry> entries;
  bool is_whole = false;
};
// Whether this member's disk has room for new writes. A primary whose disk has none hands its place
// over to a member that has room, if there is one.
struct RoomChanged {
  bool has_room = true;
};
// The log no longer has the entries before `first`.
struct EntriesDropped {
  Lsn first = 0;
};
// What this node learns of a member's node for all partitions at once. Without such news no
// partition rests (safe/primary_rest.h).
struct PeerNews {
  enum class Kind : uint8_t {
    kHeard,   // the node is heard, and will be reported as silent if it no longer is
    kSilent,  // it was last heard at `heard_at`
    kEnded,   // its node lives, but the member does not lead any longer
  };
  MemberIndex member = 0;
  Kind kind = Kind::kHeard;
  TimePoint heard_at{};
};
// A reader wants to know how current this member's data are.
struct ReadWanted {};
using ProtocolEvent =
    std::variant<MessageReceived, TimePassed, MemberUnreachable, ChangeStored, DataRestored,
                 LogReplaced, LogExtended, RoomChanged, EntriesDropped, PeerNews, ReadWanted>;

// How much a log must become smaller: which members it still keeps entries for.
enum class LogPressure : uint8_t {
  kNone,   // all members
  kLarge,  // it exceeds its size: those that answer and have not been away for too long
  kFull,   // no other member
};

class ReplicationProtocol {
 public:
  virtual ~ReplicationProtocol() = default;

  virtual void Handle(ProtocolEvent event, TimePoint now) = 0;
  // The time at which the caller must report TimePassed.
  virtual TimePoint NextEvent() const = 0;

  // Orders a write. Errors: kFailedPrecondition this is not the primary; kUnavailable the primary
  // is handing over, or (`write_anywhere`) the member is still catching up; kResourceExhausted too
  // many writes are in progress.
  virtual StatusOr<Lsn> Propose(LogEntry write, TimePoint now) = 0;
  // Restarts the partition from this member's log, whatever other members may have had: an operator
  // states that the members that could elect a primary have lost their disks. Errors:
  // kFailedPrecondition with the reason; nothing has changed.
  virtual Status StartByHand(TimePoint now) = 0;

  // Returns the actions that the caller must perform now.
  virtual ProtocolActions DrainActions() = 0;
  virtual ReplicaStatus status() const = 0;

  // The mark of data that end with `last_write`, for a snapshot that others restore; `log_base` is
  // the last entry that was dropped. If the mark has a log, the caller must add the entries up to
  // the last stored one. nullopt: the member cannot give a snapshot, or its log no longer has what
  // is needed.
  virtual std::optional<SnapshotMark> MarkOf(Lsn last_write, Lsn log_base) const = 0;
  // The last entry up to `wanted` that may be dropped; 0: none. May append an entry to the log, so
  // that the next call can drop more.
  virtual Lsn LastDroppable(Lsn wanted, LogPressure pressure, TimePoint now) = 0;
};

// Builds a function object that handles each kind of event by one of the given functions.
template <typename... Functions>
struct EventHandler : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
EventHandler(Functions...) -> EventHandler<Functions...>;

}  // namespace neptune
