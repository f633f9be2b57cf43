#include "neptune/replication/agent/snapshot_message.h"

#include <utility>

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr uint8_t kVersion = 2;
// Flags of a pull.
constexpr uint8_t kMayEnd = 1;
constexpr uint8_t kIsOver = 2;
// Flags of a chunk.
constexpr uint8_t kHasAllData = 1;
constexpr uint8_t kIsLast = 2;
constexpr uint8_t kHasLog = 4;  // in the last chunk: a mark of `write_anywhere`

uint8_t FlagsOf(const SnapshotChunk& chunk) {
  uint8_t flags = chunk.has_all_data ? kHasAllData : 0;
  if (chunk.mark) flags |= kIsLast;
  if (chunk.mark && chunk.mark->log) flags |= kHasLog;
  return flags;
}

void EncodeMark(const SnapshotMark& mark, ByteWriter& out) {
  out.Number(mark.base.lsn);
  out.Number(mark.base.epoch);
  out.Number(mark.write_set.bits());
  if (!mark.log) return;
  out.Number(mark.log->base);
  out.Counted<uint32_t>(EncodeOriginCounts(mark.log->counts));
}

StatusOr<SnapshotMark> DecodeMark(bool has_log, ByteReader& in) {
  SnapshotMark mark;
  mark.base.lsn = in.Number<uint64_t>();
  mark.base.epoch = in.Number<uint64_t>();
  mark.write_set = MemberSet(in.Number<uint16_t>());
  if (!has_log) return mark;
  mark.log.emplace();
  mark.log->base = in.Number<uint64_t>();
  NEPTUNE_ASSIGN_OR_RETURN(mark.log->counts, DecodeOriginCounts(in.Counted<uint32_t>()));
  return mark;
}

bool HasPossibleLsns(const SnapshotChunk& chunk) {
  if (chunk.data_end > kLsnMax) return false;
  if (!chunk.mark) return true;
  return chunk.mark->base.lsn <= kLsnMax && (!chunk.mark->log || chunk.mark->log->base <= kLsnMax);
}

StatusOr<std::vector<LogEntry>> DecodeEntries(ByteReader& in) {
  std::vector<LogEntry> entries;
  // Not reserved: the count comes from outside.
  for (uint32_t left = in.Number<uint32_t>(); left > 0 && !in.failed(); --left) {
    const std::string_view entry = in.Counted<uint32_t>();
    if (in.failed()) break;
    NEPTUNE_ASSIGN_OR_RETURN(entries.emplace_back(), DecodeLogEntry(entry));
  }
  return entries;
}

}  // namespace

std::string EncodeSnapshotPull(const SnapshotPull& pull) {
  std::string bytes;
  ByteWriter out(&bytes);
  out.Number(kVersion);
  out.Number(static_cast<uint8_t>((pull.may_end ? kMayEnd : 0) | (pull.is_over ? kIsOver : 0)));
  out.Counted<uint8_t>(pull.service.value());
  out.Number(pull.partition.value());
  out.Counted<uint8_t>(pull.receiver.value());
  out.Number(pull.token);
  out.Number(pull.index);
  return bytes;
}

StatusOr<SnapshotPull> DecodeSnapshotPull(std::string_view bytes) {
  ByteReader in(bytes);
  const uint8_t version = in.Number<uint8_t>();
  if (version != kVersion)
    return InvalidArgument("a pull of a snapshot has version ", int{version});
  const uint8_t flags = in.Number<uint8_t>();
  SnapshotPull pull;
  pull.may_end = (flags & kMayEnd) != 0;
  pull.is_over = (flags & kIsOver) != 0;
  pull.service = ServiceName(std::string(in.Counted<uint8_t>()));
  pull.partition = PartitionId(in.Number<uint32_t>());
  pull.receiver = NodeId(std::string(in.Counted<uint8_t>()));
  pull.token = in.Number<uint64_t>();
  pull.index = in.Number<uint64_t>();
  const bool is_sound = in.finished() && flags <= (kMayEnd | kIsOver);
  return is_sound ? StatusOr<SnapshotPull>(std::move(pull))
                  : InvalidArgument("malformed pull of a snapshot");
}

std::string EncodeSnapshotChunk(const SnapshotChunk& chunk) {
  std::string body;
  body.reserve(chunk.piece.size() + kSnapshotChunkSize / 8);
  ByteWriter out(&body);
  out.Number(uint64_t{0});  // the checksum
  out.Number(kVersion);
  out.Number(FlagsOf(chunk));
  out.Number(chunk.token);
  out.Number(chunk.index);
  out.Number(chunk.data_end);
  out.Counted<uint32_t>(chunk.piece);
  out.Number(static_cast<uint32_t>(chunk.entries.size()));
  for (const LogEntry& entry : chunk.entries) out.Counted<uint32_t>(EncodeLogEntry(entry));
  if (chunk.mark) EncodeMark(*chunk.mark, out);
  const std::string_view rest = std::string_view(body).substr(sizeof(uint64_t));
  StoreBigEndian(Checksum64(rest), body.data());
  return body;
}

StatusOr<SnapshotChunk> DecodeSnapshotChunk(std::string_view bytes) {
  ByteReader in(bytes);
  const uint64_t checksum = in.Number<uint64_t>();
  if (in.failed() || checksum != Checksum64(bytes.substr(sizeof(checksum)))) {
    return DataLoss("a chunk of a snapshot is damaged");
  }
  const uint8_t version = in.Number<uint8_t>();
  if (version != kVersion) return DataLoss("a chunk of a snapshot has version ", int{version});
  const uint8_t flags = in.Number<uint8_t>();
  SnapshotChunk chunk;
  chunk.token = in.Number<uint64_t>();
  chunk.index = in.Number<uint64_t>();
  chunk.data_end = in.Number<uint64_t>();
  chunk.piece = in.Counted<uint32_t>();
  chunk.has_all_data = (flags & kHasAllData) != 0;
  NEPTUNE_ASSIGN_OR_RETURN(chunk.entries, DecodeEntries(in));
  const bool has_log = (flags & kHasLog) != 0;
  if ((flags & kIsLast) != 0) {
    NEPTUNE_ASSIGN_OR_RETURN(chunk.mark, DecodeMark(has_log, in));
  }
  const bool is_sound = flags < 2 * kHasLog && HasPossibleLsns(chunk) &&
                        (chunk.mark.has_value() || !has_log) &&
                        (chunk.has_all_data || !chunk.mark.has_value());
  if (is_sound && in.finished()) return chunk;
  return DataLoss("a chunk of a snapshot is malformed");
}

}  // namespace neptune
