#include "neptune/replication/protocol/replica_message.h"

#include <optional>

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr uint8_t kMessageVersion = 1;
constexpr uint8_t kYesFlag = 1;
constexpr uint8_t kTrialFlag = 2;  // of votes; of appends and their answers: rests
constexpr uint8_t kHandOverFlag = 4;
constexpr uint8_t kCountsFlag = 8;
constexpr uint8_t kByHandFlag = 16;
constexpr uint8_t kLacksRoomFlag = 32;
constexpr uint8_t kKnownFlags =
    kYesFlag | kTrialFlag | kHandOverFlag | kCountsFlag | kByHandFlag | kLacksRoomFlag;
// Size of everything before the entries, without the checksum.
constexpr size_t kHeadSize = 3 + 10 * sizeof(uint64_t) + 2 * sizeof(uint16_t);

bool IsAppend(ReplicaMessageKind kind) {
  return kind == ReplicaMessageKind::kAppend || kind == ReplicaMessageKind::kAppendAnswer;
}

uint8_t FlagsOf(const ReplicaMessage& message) {
  const bool second = IsAppend(message.kind) ? message.rests : message.trial;
  return static_cast<uint8_t>(
      (message.yes ? kYesFlag : 0) | (second ? kTrialFlag : 0) |
      (message.hand_over ? kHandOverFlag : 0) | (message.counts ? kCountsFlag : 0) |
      (message.by_hand ? kByHandFlag : 0) | (message.lacks_room ? kLacksRoomFlag : 0));
}

void WriteHead(const ReplicaMessage& message, ByteWriter& out) {
  out.Number(kMessageVersion);
  out.Number(static_cast<uint8_t>(message.kind));
  out.Number(FlagsOf(message));
  out.Number(message.from_incarnation);
  out.Number(message.to_incarnation);
  out.Number(message.epoch);
  out.Number(message.prev_lsn);
  out.Number(message.prev_epoch);
  out.Number(message.last_lsn);
  out.Number(message.committed);
  out.Number(static_cast<uint64_t>(message.primary_stamp));
  out.Number(static_cast<uint64_t>(message.member_stamp));
  out.Number(message.matched);
  out.Number(message.write_set.bits());
  out.Number(static_cast<uint16_t>(message.entries.size()));
}

bool HasPossibleLsns(const ReplicaMessage& message) {
  return message.prev_lsn <= kLsnMax && message.last_lsn <= kLsnMax &&
         message.committed <= kLsnMax && message.matched <= kLsnMax;
}

// Reads everything but the entries and returns their count; nullopt: not a message header.
std::optional<size_t> ReadHead(std::string_view bytes, ReplicaMessage* message) {
  ByteReader in(bytes);
  const uint8_t version = in.Number<uint8_t>();
  const uint8_t kind = in.Number<uint8_t>();
  const uint8_t flags = in.Number<uint8_t>();
  message->kind = static_cast<ReplicaMessageKind>(kind);
  message->yes = (flags & kYesFlag) != 0;
  (IsAppend(message->kind) ? message->rests : message->trial) = (flags & kTrialFlag) != 0;
  message->hand_over = (flags & kHandOverFlag) != 0;
  message->counts = (flags & kCountsFlag) != 0;
  message->by_hand = (flags & kByHandFlag) != 0;
  message->lacks_room = (flags & kLacksRoomFlag) != 0;
  message->from_incarnation = in.Number<uint64_t>();
  message->to_incarnation = in.Number<uint64_t>();
  message->epoch = in.Number<uint64_t>();
  message->prev_lsn = in.Number<uint64_t>();
  message->prev_epoch = in.Number<uint64_t>();
  message->last_lsn = in.Number<uint64_t>();
  message->committed = in.Number<uint64_t>();
  message->primary_stamp = static_cast<int64_t>(in.Number<uint64_t>());
  message->member_stamp = static_cast<int64_t>(in.Number<uint64_t>());
  message->matched = in.Number<uint64_t>();
  message->write_set = MemberSet(in.Number<uint16_t>());
  const size_t entry_count = in.Number<uint16_t>();
  const bool sound = in.finished() && version == kMessageVersion && (flags & ~kKnownFlags) == 0 &&
                     kind >= static_cast<uint8_t>(ReplicaMessageKind::kHello) &&
                     kind <= static_cast<uint8_t>(ReplicaMessageKind::kBehind) &&
                     entry_count <= kMessageEntryCountMax && HasPossibleLsns(*message) &&
                     (entry_count == 0 || message->kind == ReplicaMessageKind::kAppend);
  return sound ? std::optional(entry_count) : std::nullopt;
}

Status ReadEntries(std::string_view bytes, size_t count, ReplicaMessage* message) {
  ByteReader in(bytes);
  for (Lsn lsn = message->prev_lsn + 1; lsn <= message->prev_lsn + count; ++lsn) {
    StatusOr<LogEntry> entry = DecodeLogEntry(in.Counted<uint32_t>());
    NEPTUNE_RETURN_IF_ERROR(entry);
    if (entry->lsn != lsn) {
      return DataLoss("entry ", entry->lsn, " of a message found where ", lsn, " was expected");
    }
    if (entry->kind != EntryKind::kWrite && entry->kind != EntryKind::kWriteSet) {
      return DataLoss("entry ", lsn, " of a message belongs to level write_anywhere");
    }
    message->entries.push_back(*std::move(entry));
  }
  return in.finished() ? OkStatus() : DataLoss("trailing bytes after the entries of a message");
}

}  // namespace

std::string EncodeReplicaMessage(const ReplicaMessage& message) {
  size_t size = sizeof(uint64_t) + kHeadSize;
  for (const LogEntry& entry : message.entries) size += 96 + entry.payload.size();
  std::string bytes(sizeof(uint64_t), '\0');
  bytes.reserve(size);
  ByteWriter out(&bytes);
  WriteHead(message, out);
  StoreBigEndian(Checksum64(std::string_view(bytes).substr(sizeof(uint64_t))), bytes.data());
  for (const LogEntry& entry : message.entries) out.Counted<uint32_t>(EncodeLogEntry(entry));
  return bytes;
}

StatusOr<ReplicaMessage> DecodeReplicaMessage(std::string_view bytes) {
  if (bytes.size() < sizeof(uint64_t) + kHeadSize) {
    return DataLoss(bytes.size(), " bytes are not a replica message");
  }
  const std::string_view head = bytes.substr(sizeof(uint64_t), kHeadSize);
  if (LoadBigEndian<uint64_t>(bytes.data()) != Checksum64(head)) {
    return DataLoss("replica message has a wrong checksum");
  }
  ReplicaMessage message;
  const std::optional<size_t> entry_count = ReadHead(head, &message);
  if (!entry_count) return DataLoss(bytes.size(), " bytes are not a replica message");
  const std::string_view entries = bytes.substr(sizeof(uint64_t) + kHeadSize);
  NEPTUNE_RETURN_IF_ERROR(ReadEntries(entries, *entry_count, &message));
  return message;
}

std::string_view NameOf(ReplicaMessageKind kind) {
  switch (kind) {
    case ReplicaMessageKind::kHello:
      return "hello";
    case ReplicaMessageKind::kHelloAnswer:
      return "hello_answer";
    case ReplicaMessageKind::kAppend:
      return "append";
    case ReplicaMessageKind::kAppendAnswer:
      return "append_answer";
    case ReplicaMessageKind::kAskVote:
      return "ask_vote";
    case ReplicaMessageKind::kVote:
      return "vote";
    case ReplicaMessageKind::kTakeOver:
      return "take_over";
    case ReplicaMessageKind::kBehind:
      return "behind";
  }
  return "unknown";
}

}  // namespace neptune
