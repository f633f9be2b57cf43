// Protocol for the transfer of a partition's data: the receiver pulls one chunk after the other.
//
//   SnapshotPull 0 ─►  ◄─ chunk 0    SnapshotPull 1 ─►  ◄─ chunk 1    ...  ◄─ last chunk
//
// A chunk has the next piece of the data as they were at the beginning, and the log entries after
// them, which the sender's log need not keep any longer. A pull that is repeated, e.g. over another
// connection, gets the same chunk again.
//
// The bytes are in README.md.
//
// Threads: immutable values.
// Errors: kInvalidArgument a malformed pull; kDataLoss a malformed chunk.
// Limits: kSnapshotChunkSize, and by one log entry more; kLsnMax.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/replication/log/log_entry.h"
#include "neptune/replication/protocol/replica_snapshot.h"

namespace neptune {

// Larger: fewer round trips, more memory for each transfer and longer waits for others on the
// connection.
inline constexpr size_t kSnapshotChunkSize = 1u << 20;

// A transfer that is not pulled for this long is over. Larger: a receiver that was cut off for
// longer resumes where it was; what a dead one holds is let go later.
inline constexpr Duration kSnapshotIdleMax = std::chrono::seconds(60);

struct SnapshotPull {
  ServiceName service;
  PartitionId partition;
  NodeId receiver;
  uint64_t token = 0;    // of the transfer; 0: begins one
  uint64_t index = 0;    // of the wanted chunk, from 0
  bool may_end = false;  // the receiver has executed what it has: a chunk may be the last one
  bool is_over = false;  // the receiver needs nothing more; no chunk is wanted
  friend bool operator==(const SnapshotPull&, const SnapshotPull&) = default;
};
std::string EncodeSnapshotPull(const SnapshotPull& pull);
StatusOr<SnapshotPull> DecodeSnapshotPull(std::string_view bytes);

struct SnapshotChunk {
  uint64_t token = 0;
  uint64_t index = 0;
  Lsn data_end = 0;           // the last write in the pieces
  std::string piece;          // empty: none in this chunk
  bool has_all_data = false;  // with this chunk
  // At the ordered levels the committed entries after data_end, at level 1 the stored entries of
  // the sender's log; without a gap from chunk to chunk.
  std::vector<LogEntry> entries;
  // In the last chunk only. At the ordered levels the base is the last entry; at level 1 it is the
  // last write in the pieces, and the mark has the log's base and counts.
  std::optional<SnapshotMark> mark;
};
std::string EncodeSnapshotChunk(const SnapshotChunk& chunk);
StatusOr<SnapshotChunk> DecodeSnapshotChunk(std::string_view bytes);

}  // namespace neptune
