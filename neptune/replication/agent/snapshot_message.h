// Protocol for the transfer of a partition's snapshot: a request, answered by a stream of messages.
//
//   SnapshotRequest ─►   ◄─ piece, piece, ..., [log, log, ...], end
//
// The bytes are in README.md.
//
// Threads: thread-compatible.
// Errors: kDataLoss malformed or inconsistent; kResourceExhausted too large.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/replication/protocol/replica_snapshot.h"
#include "neptune/replication/state/replicated_state.h"

namespace neptune {

struct SnapshotRequest {
  ServiceName service;
  PartitionId partition;
  friend bool operator==(const SnapshotRequest&, const SnapshotRequest&) = default;
};
std::string EncodeSnapshotRequest(const SnapshotRequest& request);
// Errors: kInvalidArgument.
StatusOr<SnapshotRequest> DecodeSnapshotRequest(std::string_view bytes);

// Puts the current data and their last write into `snapshot`. Blocks.
// Errors: kResourceExhausted the data have more than size_max bytes, `snapshot` then has no pieces;
//   those of the state.
Status CollectPieces(const ReplicatedState& state, size_t size_max, ReplicaSnapshot* snapshot);

std::string EncodeSnapshotPiece(std::string_view piece);
// Encodes the entries from `first` on that fit into a message, and moves `first` past them.
// REQUIRES: there is at least one.
std::string EncodeSnapshotLog(const std::vector<LogEntry>& entries, size_t* first);
std::string EncodeSnapshotEnd(const ReplicaSnapshot& snapshot);

// Assembles a snapshot from messages. Unusable after an error.
class SnapshotAssembly {
 public:
  // Refuses messages that total more than size_max bytes.
  explicit SnapshotAssembly(size_t size_max) : size_max_(size_max) {}

  // Adds the next message.
  Status Take(std::string_view message);
  // True once the end has arrived and is consistent with the messages before it.
  bool is_whole() const { return is_whole_; }
  // REQUIRES: is_whole().
  ReplicaSnapshot Release() { return std::move(snapshot_); }

 private:
  Status HandleLog(std::string_view bytes);
  Status HandleEnd(std::string_view bytes);

  const size_t size_max_;
  size_t size_ = 0;
  bool is_whole_ = false;
  std::vector<LogEntry> entries_;
  ReplicaSnapshot snapshot_;
};

}  // namespace neptune
