// The transfers of one replica's data to other members: answers their pulls, chunk by chunk.
//
//   Pull 0 ─► view of the data, pin of the log     Pull n ─► log entries since, next piece
//   Pull that may end ─► last chunk                Pull is_over, or silence ─► all is let go
//
// Nothing is read ahead: the receiver's pulls are the flow control. The log keeps the entries that
// a transfer has not sent yet (PinnedAfter), and each chunk carries the newest ones first, so the
// pin moves on with every chunk however large the data are.
//
// Threads: thread-safe. Pull and Close park and run on a user-level thread.
// Errors: kNotFound the transfer is unknown, e.g. it has ended; kUnavailable a pull of it is being
//   answered; kAborted the log could not keep what the receiver lacks; kResourceExhausted no place
//   is free, or no memory for the chunk: it may be pulled again later; those of log and data. After
//   kAborted and errors of log and data the transfer is over.
// Limits: each transfer holds its last chunk, to send it again, and the one being made; it has one
//   of the node's places until it is over. kSnapshotIdleMax without a pull ends it. So does a disk
//   that is almost full (DiskRoom::may_follow), since a view keeps what is overwritten; none begins
//   while writes are refused for that reason.

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "neptune/base/disk_room.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/memory_budget.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/replication/agent/replica_data.h"
#include "neptune/replication/agent/replica_log.h"
#include "neptune/replication/agent/snapshot_memory.h"
#include "neptune/replication/agent/snapshot_message.h"

namespace neptune {

class SnapshotSender {
 public:
  struct Hooks {
    // Takes one of the node's places for a transfer; may be null.
    std::function<StatusOr<std::shared_ptr<const void>>()> take_place;
    // The mark of data that end with this entry; parks.
    std::function<StatusOr<SnapshotMark>(Lsn last)> mark;
    // The room on the disk of the data; may be null.
    const DiskRoom* disk = nullptr;
    // The node's budget, to which chunks are charged; may be null.
    std::shared_ptr<MemoryBudget> memory;
  };
  // The references must outlive this object. `is_ordered`: not `write_anywhere`.
  SnapshotSender(const ReplicaDevice& device, const ReplicaLog& log, const ReplicaData& data,
                 bool is_ordered, Hooks hooks);
  ~SnapshotSender();

  // Returns the wanted chunk, encoded; empty if the pull says that the transfer is over.
  StatusOr<std::string> Pull(const SnapshotPull& pull);

  static constexpr Lsn kNoPin = std::numeric_limits<Lsn>::max();
  // The log must keep the entries after this one for the transfers under way; kNoPin: none.
  Lsn PinnedAfter() const;

  struct Session;
  using Sessions = std::vector<std::shared_ptr<Session>>;
  // Removes the transfers whose time is over, or whose view the disk has no room for; the caller
  // must Close them.
  Sessions TakeExpired(TimePoint now);
  void Close(Sessions sessions);

  struct Totals {
    int active = 0;
    uint64_t finished = 0;  // transfers that reached their receivers whole
    uint64_t size = 0;      // bytes of all chunks
  };
  Totals totals() const;

 private:
  StatusOr<std::shared_ptr<Session>> Begin(const SnapshotPull& pull);
  Status CheckRoom() const;
  Status OpenData(Session& session);
  StatusOr<std::shared_ptr<Session>> Claim(const SnapshotPull& pull);
  // The session's pull was answered. True: the session is over, and must be closed.
  bool EndPull(const std::shared_ptr<Session>& session, const StatusOr<std::string>& chunk);
  void Finish(uint64_t token);
  void Remove(const std::shared_ptr<Session>& session);
  Sessions TakeOf(const NodeId& receiver);
  StatusOr<std::string> Answer(Session& session, const SnapshotPull& pull);
  StatusOr<SnapshotChunk> MakeChunk(Session& session, const SnapshotPull& pull);
  StatusOr<size_t> AddEntries(const Session& session, Lsn last, SnapshotChunk& chunk) const;
  Status AddMark(const Session& session, Lsn last, SnapshotChunk& chunk) const;
  uint64_t NewToken(const NodeId& receiver);

  const ReplicaDevice& device_;
  const ReplicaLog& log_;
  const ReplicaData& data_;
  const bool is_ordered_;
  const Hooks hooks_;
  mutable LeafMutex mutex_;
  Sessions sessions_ ABSL_GUARDED_BY(mutex_);
  uint64_t token_count_ ABSL_GUARDED_BY(mutex_) = 0;
  Totals totals_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
