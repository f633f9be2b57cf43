#include "neptune/replication/state/snapshot_pieces.h"

#include <algorithm>
#include <utility>

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"
#include "neptune/base/strings.h"
#include "neptune/world/storage.h"

namespace neptune {
namespace {

constexpr size_t kChecksumSize = sizeof(uint64_t);
// Marks the end; takes the place of a key size.
constexpr uint16_t kEndMark = 0xffff;
constexpr size_t kEndSize = sizeof(uint16_t) + 2 * sizeof(uint64_t);

}  // namespace

void SnapshotWriter::Add(std::string_view key, std::string_view value) {
  ByteWriter out(&stream_);
  out.Counted<uint16_t>(key);
  out.Counted<uint32_t>(value);
  ++pair_count_;
}

void SnapshotWriter::End(Lsn completed) {
  ByteWriter out(&stream_);
  out.Number(kEndMark);
  out.Number(pair_count_);
  out.Number(completed);
}

std::string SnapshotWriter::TakePiece(size_t piece_size_max) {
  const size_t chunk_size = std::max(piece_size_max, kSnapshotPieceSizeMin) - kChecksumSize;
  const std::string_view chunk = std::string_view(stream_).substr(taken_, chunk_size);
  checksum_ = Checksum64(chunk, checksum_);
  std::string piece;
  piece.reserve(kChecksumSize + chunk.size());
  ByteWriter out(&piece);
  out.Number(checksum_);
  out.Bytes(chunk);
  taken_ += chunk.size();
  // Not after each piece, since a large value is cut into many.
  if (taken_ >= stream_.size() / 2) stream_.erase(0, std::exchange(taken_, 0));
  return piece;
}

StatusOr<std::string_view> SnapshotReader::Verify(std::string_view piece) {
  ByteReader in(piece);
  const uint64_t checksum = in.Number<uint64_t>();
  const std::string_view chunk = in.Bytes(in.remaining());
  if (in.failed() || chunk.empty() || checksum != Checksum64(chunk, checksum_)) {
    return DataLoss("a snapshot piece is damaged or out of order");
  }
  checksum_ = checksum;
  return chunk;
}

Status SnapshotReader::Take(std::string_view piece, const PairHandler& take) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string_view chunk, Verify(piece));
  if (has_ended_) return DataLoss("a snapshot piece follows the end");
  stream_.append(chunk);
  std::string_view rest = stream_;
  while (!rest.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(const size_t taken, ConsumeFirst(rest, take));
    if (taken == 0) break;
    rest.remove_prefix(taken);
    if (has_ended_ && !rest.empty()) return DataLoss("trailing bytes after the end of a snapshot");
  }
  stream_.erase(0, stream_.size() - rest.size());
  return OkStatus();
}

StatusOr<size_t> SnapshotReader::ConsumeFirst(std::string_view rest, const PairHandler& take) {
  ByteReader in(rest);
  const uint16_t key_size = in.Number<uint16_t>();
  if (!in.failed() && key_size == kEndMark) return HandleEnd(rest);
  if (key_size > kStorageKeySizeMax) {
    return DataLoss("a snapshot has a key of ", key_size, " bytes");
  }
  const std::string_view key = in.Bytes(key_size);
  const uint32_t value_size = in.Number<uint32_t>();
  if (value_size > kStorageValueSizeMax) {
    return DataLoss("a snapshot has a value of ", value_size, " bytes");
  }
  const std::string_view value = in.Bytes(value_size);
  if (in.failed()) return 0;
  take(key, value);
  ++pair_count_;
  return rest.size() - in.remaining();
}

StatusOr<size_t> SnapshotReader::HandleEnd(std::string_view rest) {
  if (rest.size() < kEndSize) return 0;
  ByteReader in(rest.substr(sizeof(uint16_t), kEndSize - sizeof(uint16_t)));
  const uint64_t pair_count = in.Number<uint64_t>();
  if (pair_count != pair_count_) {
    return DataLoss("a snapshot should have ", pair_count, " pairs, but has ", pair_count_);
  }
  completed_ = in.Number<uint64_t>();
  if (completed_ > kLsnMax) return DataLoss("a snapshot cannot end with write ", completed_);
  has_ended_ = true;
  return kEndSize;
}

}  // namespace neptune
