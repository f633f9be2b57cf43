// One transfer of another member's data into this replica.
//
//   Begin: chunk 0 ─► the data are replaced: pieces ─► data, log entries ─► spool
//                     ─► all data there: spool ─► executed, while more entries come ─► last chunk
//
// A pull that fails is repeated until kResumeMax has passed, so a broken connection does not end
// the transfer. At the ordered levels the entries are executed here; at level 1 they are the log of
// the restored data and stay in the spool.
//
// Threads: runs on one user-level thread, which parks.
// Errors: those of the pulls and of SnapshotIntake; those of data and spool, for which
//   has_disk_failed() is true. Damage of what has arrived counts as the sender's, unless the data
//   cannot even be emptied for the next transfer.
// Limits: one chunk at a time in memory, and entries of kReplaySize; both are charged to the node's
//   budget before the chunk is pulled. While the budget has no room, at either end, the transfer
//   waits.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "neptune/base/memory_budget.h"
#include "neptune/base/status.h"
#include "neptune/replication/agent/replica_data.h"
#include "neptune/replication/agent/restore_spool.h"
#include "neptune/replication/agent/snapshot_intake.h"
#include "neptune/replication/agent/snapshot_memory.h"
#include "neptune/replication/agent/snapshot_message.h"

namespace neptune {

class Restoration {
 public:
  struct Hooks {
    // Sends a pull, of which service, partition and receiver are filled in, and returns the answer.
    std::function<StatusOr<SnapshotChunk>(const SnapshotPull& pull)> fetch;
    // Reports to the sender that the transfer is over, without waiting.
    std::function<void(uint64_t token)> leave;
    // False: another source is better now, so a failed pull need not be repeated. May be null.
    std::function<bool()> is_wanted;
    // A chunk of this many bytes has arrived; may be null.
    std::function<void(size_t size)> on_chunk;
    // May be null.
    std::shared_ptr<MemoryBudget> memory;
  };
  // The references must outlive this object. `is_ordered`: not `write_anywhere`.
  Restoration(const ReplicaDevice& device, ReplicaData& data, RestoreSpool& spool, bool is_ordered,
              Hooks hooks)
      : device_(device),
        data_(data),
        spool_(spool),
        is_ordered_(is_ordered),
        hooks_(std::move(hooks)),
        memory_(hooks_.memory),
        intake_(is_ordered) {}

  // Begins the transfer; the data are not touched yet.
  Status Begin();
  // The last write in the data of the other member when the transfer began.
  Lsn data_end() const { return intake_.data_end(); }
  // Replaces the data, except for ReplicaData::EndRestore. REQUIRES: Begin has returned OK; the
  // data's mutex is held.
  Status Run();
  // The place at which the data end. REQUIRES: Run has returned OK.
  const SnapshotMark& mark() const { return intake_.mark(); }
  // Lets the sender let go of the transfer, if it has begun.
  void Leave();

  bool has_disk_failed() const { return has_disk_failed_; }

 private:
  Status Empty();
  StatusOr<SnapshotChunk> Fetch();
  // One pull, once there is memory for its answer.
  StatusOr<SnapshotChunk> TryFetch(const SnapshotPull& pull);
  Status Take(SnapshotChunk chunk);
  Status Store(const SnapshotChunk& chunk);
  Status ExecuteSome();
  Status OnDevice(const std::function<Status()>& call);
  Status Local(const Status& status);

  const ReplicaDevice& device_;
  ReplicaData& data_;
  RestoreSpool& spool_;
  const bool is_ordered_;
  const Hooks hooks_;
  SnapshotMemory memory_;
  SnapshotIntake intake_;
  SnapshotChunk first_;
  bool has_disk_failed_ = false;
};

}  // namespace neptune
