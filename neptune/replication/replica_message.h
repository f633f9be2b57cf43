// What the replicas of one partition tell each other.
//
//   primary ──Append (entries, commit, lease)──► member ──AppendAnswer (how far its log matches)──►
//   candidate ──AskVote (would you? / do you?)──► member ──Vote──►
//   member that starts ──Hello──► members ──HelloAnswer (epoch, whether blank)──►
//   primary ──Behind (what you miss is no longer in my log)──► member     primary ──TakeOver──► its successor
//
// Source: [Shen02] 5.2.2; departs from it in all that makes a primary safe without fail-stop nodes.
// Threads: immutable values.
// Units: stamps are the sender's own clock in nanoseconds, given back to it unread.
// Errors: kDataLoss the bytes are no message.
// Limits: kMessageEntryCountMax entries a message; kLogPayloadSizeMax bytes an entry.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/replication/log_entry.h"

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

// One message; a field without a kind is in all of them.
struct ReplicaMessage {
  ReplicaMessageKind kind = ReplicaMessageKind::kHello;
  // Of the starts of both processes: a member takes nothing that was meant for an earlier life. 0: not known, in kHello.
  uint64_t from_incarnation = 0;
  uint64_t to_incarnation = 0;
  Epoch epoch = 0;

  // kAppend: what stands before its entries. kAskVote: the end of the candidate's log. kBehind: the last entry that the
  // primary no longer has.
  Lsn prev_lsn = 0;
  Epoch prev_epoch = 0;
  // kAppend: the end of the primary's log.
  Lsn last_lsn = 0;
  // kAppend: what is committed. kAppendAnswer: what is executed.
  Lsn committed = 0;
  // kAppend: of its sending. kAppendAnswer: of the append that it answers.
  int64_t primary_stamp = 0;
  // kAppendAnswer: of its sending. kAppend: of the newest answer that the primary had when it sent this.
  int64_t member_stamp = 0;
  // kAppendAnswer: up to here the logs are the same, or, if refused, the member looks for where they are.
  Lsn matched = 0;
  // kBehind: the write set at prev_lsn.
  MemberSet write_set;

  // kAppend: no other primary can have been elected when it was sent. kAppendAnswer, kVote: granted. kHelloAnswer: the
  // member has never taken part in an election.
  bool yes = false;
  // kAskVote, kVote: only a question whether the vote would be given.
  bool trial = false;
  // kAskVote: the primary gave its place to the candidate.
  bool hand_over = false;
  // kAppendAnswer: the member's promises and acknowledgements count; see safe_replica.h.
  bool counts = false;
  // kAppend, kBehind: an operator started the partition from the primary's log, and none of its epoch's entries is committed
  // yet.
  bool by_hand = false;

  // kAppend.
  std::vector<LogEntry> entries;
};

inline int64_t StampOf(TimePoint time) { return time.time_since_epoch().count(); }
inline TimePoint TimeOf(int64_t stamp) { return TimePoint(Duration(stamp)); }

std::string EncodeReplicaMessage(const ReplicaMessage& message);
StatusOr<ReplicaMessage> DecodeReplicaMessage(std::string_view bytes);
std::string_view NameOf(ReplicaMessageKind kind);

}  // namespace neptune
