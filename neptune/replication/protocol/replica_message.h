// Messages between the replicas of one partition.
//
//   primary ──Append (entries, commit, lease)──► member ──AppendAnswer (matching prefix)──►
//   candidate ──AskVote (trial or real)──► member ──Vote──►
//   member that starts ──Hello──► members ──HelloAnswer (epoch, blank or not)──►
//   primary ──Behind (the entries you miss were dropped)──► member
//   primary ──TakeOver──► its successor
//
// Source: [Shen02] 5.2.2; the parts that make a primary safe without fail-stop nodes are not in it.
// Threads: immutable values.
// Units: stamps are nanoseconds of their creator's clock; receivers echo them without
//   interpretation.
// Errors: kDataLoss the bytes are not a message.
// Limits: kMessageEntryCountMax entries per message; kLogPayloadSizeMax bytes per entry; kLsnMax.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/replication/log/log_entry.h"

namespace neptune {

inline constexpr size_t kMessageEntryCountMax = 4096;

enum class ReplicaMessageKind : uint8_t {
  kHello = 1,
  kHelloAnswer = 2,
  kAppend = 3,
  kAppendAnswer = 4,
  kAskVote = 5,
  kVote = 6,
  kTakeOver = 7,
  kBehind = 8,
};

// A message. Fields whose comment names no kind are in all messages.
struct ReplicaMessage {
  ReplicaMessageKind kind = ReplicaMessageKind::kHello;
  // Incarnations of sender and receiver; messages addressed to an earlier incarnation are dropped.
  // 0: not known, in kHello.
  uint64_t from_incarnation = 0;
  uint64_t to_incarnation = 0;
  Epoch epoch = 0;

  // kAppend: the entry before its entries. kAskVote: the end of the candidate's log. kBehind: the
  // last entry that the primary has dropped.
  Lsn prev_lsn = 0;
  Epoch prev_epoch = 0;
  // kAppend: the end of the primary's log.
  Lsn last_lsn = 0;
  // kAppend: last committed entry. kAppendAnswer: last executed entry.
  Lsn committed = 0;
  // kAppend: time of sending. kAppendAnswer: copied from the append that it answers.
  int64_t primary_stamp = 0;
  // kAppendAnswer: time of sending. kAppend: copied from the newest answer that the primary had.
  int64_t member_stamp = 0;
  // kAppendAnswer: the logs match up to here; if refused, where to look for a match next.
  Lsn matched = 0;
  // kBehind: the write set at prev_lsn.
  MemberSet write_set;

  // kAppend: no other primary can have been elected when it was sent. kAppendAnswer, kVote:
  // granted. kHelloAnswer: the member has never taken part in an election.
  bool yes = false;
  // kAskVote, kVote: a trial (pre-vote), which asks whether the vote would be granted.
  bool trial = false;
  // kAppend: the primary rests, so its next append comes late. kAppendAnswer: it may.
  bool rests = false;
  // kAskVote: the primary handed over to the candidate.
  bool hand_over = false;
  // kAppendAnswer: the member's promises and acknowledgements count; see safe_replica.h.
  bool counts = false;
  // kAppend, kBehind: an operator started the partition from the primary's log, and no entry of its
  // epoch is committed yet.
  bool by_hand = false;
  // kAppendAnswer: the member's disk has no room for new writes.
  bool lacks_room = false;

  // kAppend only.
  std::vector<LogEntry> entries;
};

inline int64_t StampOf(TimePoint time) { return time.time_since_epoch().count(); }
inline TimePoint TimeOf(int64_t stamp) { return TimePoint(Duration(stamp)); }

std::string EncodeReplicaMessage(const ReplicaMessage& message);
StatusOr<ReplicaMessage> DecodeReplicaMessage(std::string_view bytes);
std::string_view NameOf(ReplicaMessageKind kind);

}  // namespace neptune
