#include "neptune/replication/protocol/commutative_message.h"

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"
#include "neptune/base/strings.h"
#include "neptune/replication/protocol/replica_message.h"

namespace neptune {
namespace {

constexpr uint8_t kMessageVersion = 2;
constexpr uint8_t kReadyFlag = 1;
constexpr uint8_t kWantsAllFlag = 2;
constexpr uint8_t kBehindFlag = 4;
constexpr uint8_t kKnownFlags = kReadyFlag | kWantsAllFlag | kBehindFlag;

std::string EncodeHead(const CommutativeMessage& message) {
  std::string head;
  ByteWriter out(&head);
  out.Number(kMessageVersion);
  out.Number(static_cast<uint8_t>((message.is_ready ? kReadyFlag : 0) |
                                  (message.wants_all ? kWantsAllFlag : 0) |
                                  (message.is_behind ? kBehindFlag : 0)));
  out.Number(message.from_incarnation);
  out.Number(message.to_incarnation);
  out.Number(message.number);
  out.Counted<uint32_t>(EncodeOriginCounts(message.has));
  out.Number(static_cast<uint16_t>(message.entries.size()));
  return head;
}

// Reads everything but the entries and returns their count.
StatusOr<size_t> DecodeHead(std::string_view head, CommutativeMessage* message) {
  ByteReader in(head);
  const uint8_t version = in.Number<uint8_t>();
  const uint8_t flags = in.Number<uint8_t>();
  message->is_ready = (flags & kReadyFlag) != 0;
  message->wants_all = (flags & kWantsAllFlag) != 0;
  message->is_behind = (flags & kBehindFlag) != 0;
  message->from_incarnation = in.Number<uint64_t>();
  message->to_incarnation = in.Number<uint64_t>();
  message->number = in.Number<uint64_t>();
  NEPTUNE_ASSIGN_OR_RETURN(message->has, DecodeOriginCounts(in.Counted<uint32_t>()));
  const size_t entry_count = in.Number<uint16_t>();
  if (!in.finished() || version != kMessageVersion || (flags & ~kKnownFlags) != 0 ||
      entry_count > kMessageEntryCountMax) {
    return DataLoss(head.size(), " bytes are not the header of a write message");
  }
  return entry_count;
}

}  // namespace

std::string EncodeCommutativeMessage(const CommutativeMessage& message) {
  const std::string head = EncodeHead(message);
  std::string bytes;
  ByteWriter out(&bytes);
  out.Number(Checksum64(head));
  out.Counted<uint32_t>(head);
  for (const LogEntry& entry : message.entries) out.Counted<uint32_t>(EncodeLogEntry(entry));
  return bytes;
}

StatusOr<CommutativeMessage> DecodeCommutativeMessage(std::string_view bytes) {
  ByteReader in(bytes);
  const uint64_t checksum = in.Number<uint64_t>();
  const std::string_view head = in.Counted<uint32_t>();
  if (in.failed() || checksum != Checksum64(head)) {
    return DataLoss("write message has a wrong checksum");
  }
  CommutativeMessage message;
  NEPTUNE_ASSIGN_OR_RETURN(const size_t entry_count, DecodeHead(head, &message));
  for (size_t i = 0; i < entry_count; ++i) {
    NEPTUNE_ASSIGN_OR_RETURN(LogEntry entry, DecodeLogEntry(in.Counted<uint32_t>()));
    if (entry.kind != EntryKind::kCommutativeWrite) {
      return DataLoss("entry ", entry.lsn, " of a message is not a commutative write");
    }
    message.entries.push_back(std::move(entry));
  }
  if (in.finished()) return message;
  return DataLoss("trailing bytes after the entries of a write message");
}

}  // namespace neptune
