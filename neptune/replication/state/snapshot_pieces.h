// Snapshot format: key-value pairs as a stream that is cut into pieces at arbitrary positions.
//
//   pairs ─► SnapshotWriter ─► piece, piece, ... ─► SnapshotReader ─► pairs
//
// Each piece's checksum continues that of the previous one, which detects damaged, missing,
// repeated and misplaced pieces; the end has the number of pairs.
//
// Threads: thread-compatible.
// Errors: kDataLoss a piece is damaged or not the next one, or the end is missing.
// Limits: keys and values as in storage.h; a reader holds one pair and one piece.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/replication/log/log_entry.h"

namespace neptune {

inline constexpr size_t kSnapshotPieceSizeMin = 64;

class SnapshotWriter {
 public:
  using PieceHandler = std::function<bool(std::string_view piece)>;
  // Pieces have at most piece_size_max bytes, or kSnapshotPieceSizeMin if that is more.
  SnapshotWriter(size_t piece_size_max, PieceHandler take);

  // False: the handler wants no more pieces.
  bool Add(std::string_view key, std::string_view value);
  bool End(Lsn completed);

 private:
  bool Cut(size_t rest_size_max);

  const size_t chunk_size_;
  const PieceHandler take_;
  std::string stream_;  // not yet cut
  uint64_t pair_count_ = 0;
  uint64_t checksum_ = 0;  // checksum of the last piece
};

class SnapshotReader {
 public:
  using PairHandler = std::function<void(std::string_view key, std::string_view value)>;

  // Adds a piece and passes the pairs that it completes to `take`.
  Status Take(std::string_view piece, const PairHandler& take);
  // Checks that the stream is complete and that its data end with this write.
  Status CheckEnd(Lsn completed) const;

 private:
  StatusOr<std::string_view> Verify(std::string_view piece);
  // Consumes the first pair of `rest`, or the end; returns its size, or 0 if more bytes are needed.
  StatusOr<size_t> ConsumeFirst(std::string_view rest, const PairHandler& take);
  StatusOr<size_t> HandleEnd(std::string_view rest);

  std::string stream_;  // bytes after the last complete pair
  uint64_t pair_count_ = 0;
  uint64_t checksum_ = 0;
  bool has_ended_ = false;
  Lsn completed_ = 0;
};

}  // namespace neptune
