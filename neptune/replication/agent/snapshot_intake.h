// Checks the chunks of a snapshot on their arrival: the receiver's view of one transfer.
//
//   pull() ─► sender ─► chunk ─► Take ─► to be stored by the caller
//
// No I/O, no clock.
// Threads: thread-compatible.
// Errors: kDataLoss the chunk is not the next one or contradicts those before it;
//   kFailedPrecondition it belongs to another consistency level. The transfer cannot go on then.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "neptune/base/status.h"
#include "neptune/replication/agent/snapshot_message.h"

namespace neptune {

class SnapshotIntake {
 public:
  // `is_ordered`: not `write_anywhere`.
  explicit SnapshotIntake(bool is_ordered) : is_ordered_(is_ordered) {}

  // The fields of the next pull that identify the chunk.
  uint64_t token() const { return token_; }
  uint64_t next_index() const { return chunk_count_; }

  // Takes the next chunk.
  Status Take(const SnapshotChunk& chunk);

  uint64_t chunk_count() const { return chunk_count_; }
  // The last write in the pieces. REQUIRES: a chunk was taken.
  Lsn data_end() const { return data_end_; }
  bool has_all_data() const { return has_all_data_; }
  bool is_whole() const { return mark_.has_value(); }
  // REQUIRES: is_whole().
  const SnapshotMark& mark() const { return *mark_; }

 private:
  Status CheckPlace(const SnapshotChunk& chunk) const;
  Status CheckEntries(const SnapshotChunk& chunk) const;
  Status CheckMark(const SnapshotMark& mark) const;

  const bool is_ordered_;
  uint64_t token_ = 0;
  uint64_t chunk_count_ = 0;
  Lsn data_end_ = 0;
  bool has_all_data_ = false;
  Lsn first_entry_ = 0;  // 0: there was none yet
  Lsn last_entry_ = 0;
  std::optional<SnapshotMark> mark_;
};

}  // namespace neptune
