#include "neptune/replication/agent/snapshot_message.h"

#include <utility>

#include "neptune/base/byte_order.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

// First byte of a message.
constexpr char kPieceTag = 'P';
constexpr char kLogTag = 'L';
constexpr char kEndTag = 'E';
constexpr size_t kPieceSize = 128u << 10;
constexpr size_t kLogMessageSize = 128u << 10;

// Checks that the entries have no gaps, and that the data end with one of them or just before them.
Status CheckLog(const ReplicaSnapshot& snapshot) {
  const LogCopy& log = *snapshot.log;
  bool is_sound =
      snapshot.base.lsn >= log.base && snapshot.base.lsn - log.base <= log.entries.size();
  for (size_t i = 0; i < log.entries.size(); ++i) {
    is_sound = is_sound && log.entries[i].lsn == log.base + 1 + i;
  }
  return is_sound ? OkStatus() : DataLoss("its data do not match its log");
}

}  // namespace

std::string EncodeSnapshotRequest(const SnapshotRequest& request) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.Counted<uint8_t>(request.service.value());
  writer.Number(request.partition.value());
  return bytes;
}

StatusOr<SnapshotRequest> DecodeSnapshotRequest(std::string_view bytes) {
  ByteReader reader(bytes);
  SnapshotRequest request;
  request.service = ServiceName(std::string(reader.Counted<uint8_t>()));
  request.partition = PartitionId(reader.Number<uint32_t>());
  if (!reader.finished()) return InvalidArgument("malformed snapshot request");
  return request;
}

Status CollectPieces(const ReplicatedState& state, size_t size_max, ReplicaSnapshot* snapshot) {
  size_t size = 0;
  const StatusOr<Lsn> lsn = state.WriteSnapshot(kPieceSize, [&](std::string_view piece) {
    size += piece.size();
    if (size <= size_max) snapshot->pieces.emplace_back(piece);
    return size <= size_max;
  });
  if (size > size_max) {
    snapshot->pieces.clear();
    return ResourceExhausted("the data are larger than ", size_max, " bytes and are not sent");
  }
  NEPTUNE_RETURN_IF_ERROR(lsn.status());
  snapshot->base.lsn = *lsn;
  return OkStatus();
}

std::string EncodeSnapshotPiece(std::string_view piece) {
  return StrCat(std::string_view(&kPieceTag, 1), piece);
}

std::string EncodeSnapshotLog(const std::vector<LogEntry>& entries, size_t* first) {
  std::string bytes(1, kLogTag);
  ByteWriter writer(&bytes);
  for (; *first < entries.size() && bytes.size() < kLogMessageSize; ++*first) {
    writer.Counted<uint32_t>(EncodeLogEntry(entries[*first]));
  }
  return bytes;
}

std::string EncodeSnapshotEnd(const ReplicaSnapshot& snapshot) {
  std::string end(1, kEndTag);
  ByteWriter writer(&end);
  writer.Number(snapshot.base.lsn);
  writer.Number(snapshot.base.epoch);
  writer.Number(snapshot.write_set.bits());
  if (!snapshot.log) return end;
  writer.Number(snapshot.log->base);
  writer.Counted<uint32_t>(EncodeOriginCounts(snapshot.log->counts));
  return end;
}

Status SnapshotAssembly::Take(std::string_view message) {
  if (is_whole_) return DataLoss("data after its end");
  size_ += message.size();
  if (size_ > size_max_) return ResourceExhausted("it has more than ", size_max_, " bytes");
  const std::string_view rest = message.substr(message.empty() ? 0 : 1);
  if (message.starts_with(kPieceTag)) {
    snapshot_.pieces.emplace_back(rest);
    return OkStatus();
  }
  if (message.starts_with(kLogTag)) return HandleLog(rest);
  if (message.starts_with(kEndTag)) return HandleEnd(rest);
  return DataLoss("a message of it is malformed");
}

Status SnapshotAssembly::HandleLog(std::string_view bytes) {
  ByteReader reader(bytes);
  while (reader.remaining() > 0) {
    const std::string_view entry = reader.Counted<uint32_t>();
    if (reader.failed()) return DataLoss("its log is malformed");
    NEPTUNE_ASSIGN_OR_RETURN(entries_.emplace_back(), DecodeLogEntry(entry));
  }
  return OkStatus();
}

Status SnapshotAssembly::HandleEnd(std::string_view bytes) {
  ByteReader reader(bytes);
  snapshot_.base.lsn = reader.Number<uint64_t>();
  snapshot_.base.epoch = reader.Number<uint64_t>();
  snapshot_.write_set = MemberSet(reader.Number<uint16_t>());
  is_whole_ = reader.finished() && entries_.empty();
  if (is_whole_) return OkStatus();
  snapshot_.log.emplace();
  snapshot_.log->base = reader.Number<uint64_t>();
  NEPTUNE_ASSIGN_OR_RETURN(snapshot_.log->counts, DecodeOriginCounts(reader.Counted<uint32_t>()));
  if (!reader.finished()) return DataLoss("its end is malformed");
  snapshot_.log->entries = std::move(entries_);
  NEPTUNE_RETURN_IF_ERROR(CheckLog(snapshot_));
  is_whole_ = true;
  return OkStatus();
}

}  // namespace neptune
