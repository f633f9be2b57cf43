// Key-value pairs as a stream that is cut into pieces anywhere, for a replica that takes another's data.
//
//   pairs ─► SnapshotWriter ─► piece, piece, ... ─► SnapshotReader ─► pairs
//
// Each piece's checksum continues that of the one before, so one that is damaged, missing, repeated or misplaced is found;
// the end says how many pairs there were.
//
// Threads: thread-compatible.
// Errors: kDataLoss a piece is damaged or is not the next one, or the end is missing.
// Limits: keys and values as storage.h has them; a reader holds one pair and one piece.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/replication/log_entry.h"

namespace neptune {

inline constexpr size_t kSnapshotPieceSizeMin = 64;

class SnapshotWriter {
 public:
  using PieceHandler = std::function<bool(std::string_view piece)>;
  // Pieces have at most piece_size_max bytes, or kSnapshotPieceSizeMin if that is more.
  SnapshotWriter(size_t piece_size_max, PieceHandler take);

  // False: no more are wanted.
  bool Add(std::string_view key, std::string_view value);
  bool End(Lsn completed);

 private:
  bool Cut(size_t rest_size_max);

  const size_t chunk_size_;
  const PieceHandler take_;
  std::string stream_;  // not yet cut
  uint64_t pair_count_ = 0;
  uint64_t checksum_ = 0;  // of the last piece
};

class SnapshotReader {
 public:
  using PairHandler = std::function<void(std::string_view key, std::string_view value)>;

  // Gives the pairs that are whole by now.
  Status Take(std::string_view piece, const PairHandler& take);
  // The stream is whole, and its data end with this write.
  Status CheckEnd(Lsn completed) const;

 private:
  StatusOr<std::string_view> Verify(std::string_view piece);
  // Bytes of the first pair of `rest`, or of the end; 0: more are needed.
  StatusOr<size_t> ConsumeFirst(std::string_view rest, const PairHandler& take);
  StatusOr<size_t> HandleEnd(std::string_view rest);

  std::string stream_;  // after the last whole pair
  uint64_t pair_count_ = 0;
  uint64_t checksum_ = 0;
  bool has_ended_ = false;
  Lsn completed_ = 0;
};

}  // namespace neptune
