// Snapshot format: key-value pairs as a stream that is cut into pieces at arbitrary positions.
//
//   pairs ─► SnapshotWriter ─► piece, piece, ... ─► SnapshotReader ─► pairs
//
// Pieces are cut when they are wanted, each as large as its taker says.
//
// Each piece's checksum continues that of the previous one, which detects damaged, missing,
// repeated and misplaced pieces; the end has the number of pairs.
//
// Threads: thread-compatible.
// Errors: kDataLoss a piece is damaged or not the next one, or the end is missing.
// Limits: keys and values as in storage.h; a reader holds one pair and one piece; a writer holds
//   what was added and not taken.

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
  void Add(std::string_view key, std::string_view value);
  // Adds the end. REQUIRES: it is called once, after all pairs.
  void End(Lsn completed);

  // Bytes of the stream that are not in a piece yet.
  size_t size() const { return stream_.size() - taken_; }
  // Cuts the next piece, of at most piece_size_max bytes (kSnapshotPieceSizeMin if that is more).
  // REQUIRES: size() > 0.
  std::string TakePiece(size_t piece_size_max);

 private:
  std::string stream_;
  size_t taken_ = 0;  // bytes of it that are in pieces
  uint64_t pair_count_ = 0;
  uint64_t checksum_ = 0;  // checksum of the last piece
};

class SnapshotReader {
 public:
  using PairHandler = std::function<void(std::string_view key, std::string_view value)>;

  // Adds a piece and passes the pairs that it completes to `take`.
  Status Take(std::string_view piece, const PairHandler& take);
  // True once the whole stream was taken.
  bool has_ended() const { return has_ended_; }
  // The last write in the data. REQUIRES: has_ended().
  Lsn completed() const { return completed_; }

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
