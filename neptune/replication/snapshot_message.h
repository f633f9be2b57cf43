// How a partition's data go to another member: a request, and a stream of messages.
//
//   SnapshotRequest ─►   ◄─ piece, piece, ..., [log, log, ...], end
//
// The bytes are in README.md.
//
// Threads: thread-compatible.
// Errors: kDataLoss malformed, or its parts do not go together; kResourceExhausted too large.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/replication/agent_protocol.h"
#include "neptune/replication/replicated_state.h"

namespace neptune {

struct SnapshotRequest {
  ServiceName service;
  PartitionId partition;
  friend bool operator==(const SnapshotRequest&, const SnapshotRequest&) = default;
};
std::string EncodeSnapshotRequest(const SnapshotRequest& request);
// Errors: kInvalidArgument.
StatusOr<SnapshotRequest> DecodeSnapshotRequest(std::string_view bytes);

// Puts the data, as they are now, into `snapshot`, with the last write in them. Blocks.
// Errors: kResourceExhausted they have more than size_max bytes: `snapshot` has none of them; else those of the state.
Status CollectPieces(const ReplicatedState& state, size_t size_max, ReplicaSnapshot* snapshot);

std::string EncodeSnapshotPiece(std::string_view piece);
// As many of the entries from `first` on as make a message; moves `first` behind them. REQUIRES: there is one.
std::string EncodeSnapshotLog(const std::vector<LogEntry>& entries, size_t* first);
std::string EncodeSnapshotEnd(const ReplicaSnapshot& snapshot);

// Puts a snapshot together. After an error it is of no use.
class SnapshotAssembly {
 public:
  // Messages of more bytes in all are refused.
  explicit SnapshotAssembly(size_t size_max) : size_max_(size_max) {}

  // The next message.
  Status Take(std::string_view message);
  // The end has come, and goes with what came before it.
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
