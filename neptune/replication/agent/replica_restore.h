// Replaces a replica's log and data by those of another member, and keeps at it until it is done.
//
//   Want(from) ─► transfer (Restoration) ─► protocol: DataRestored ─► log stored ─► data ended
//
// Invariant: the data are ended, which makes them durable and lets them count, only once the log
// that goes with them is durable. Until then a crash leaves them empty.
//
// An attempt that is refused leaves the old data as they are. Once they are gone, nothing is
// executed until others have replaced them; the pauses between attempts grow, so that a member that
// is too slow for its partition does not keep the others busy with snapshots. It has no place of
// the node meanwhile, so that a partition that finds no sender does not keep out the others. The
// end of each transfer, successful or not, is reported to its sender, which is not waited for.
//
// Threads: Want and Run on the control loop, Run on a user-level thread of it; the rest on any
//   thread.
// Errors: those of this node's disk are reported to on_failure.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/memory_budget.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/replication/agent/log_storer.h"
#include "neptune/replication/agent/replica_data.h"
#include "neptune/replication/agent/restoration.h"
#include "neptune/replication/agent/restore_spool.h"
#include "neptune/replication/protocol/replication_protocol.h"
#include "neptune/thread/synchronization.h"

namespace neptune {

class ReplicaRestore {
 public:
  struct Hooks {
    // See Restoration::Hooks.
    std::function<StatusOr<SnapshotChunk>(MemberIndex from, const SnapshotPull& pull)> fetch;
    std::function<void(MemberIndex from, uint64_t token)> leave;
    // Takes one of the node's places for a restore; may be null.
    std::function<StatusOr<std::shared_ptr<const void>>()> take_place;
    // Passes the event to the protocol, and what it wants stored to the storer.
    std::function<void(ProtocolEvent event)> handle;
    // Answers the callers of writes up to this entry (nullopt: of all), whose outcome is unknown.
    std::function<void(std::optional<Lsn> last)> fail_writes;
    // Makes the data ready to be replaced by those of another member, which end with this write or
    // a later one; parks, with the data's mutex held. Called for each transfer. An error refuses
    // it. May be null.
    std::function<Status(Lsn data_end)> prepare;
    // The data are about to be replaced.
    std::function<void()> on_begin;
    // The result of an attempt.
    std::function<void(const Status& status)> on_result;
    // The log or the data of this node failed.
    std::function<void(const Status& status)> on_failure;
  };
  struct Parts {
    const ReplicaDevice& device;
    ReplicaData& data;
    const LogStorer& storer;
    DurableStorage& storage;
    std::shared_ptr<MemoryBudget> memory = nullptr;  // may be null
  };
  // `stopping` and the parts must outlive this object. `is_ordered`: not level 1; `name`: of the
  // store that the spool uses.
  ReplicaRestore(const Parts& parts, std::string name, bool is_ordered,
                 const std::atomic<bool>& stopping, Hooks hooks);

  // Removes what an earlier process has left.
  Status Clear();

  // Names the member to restore from, from now on. False: Run is at it already.
  bool Want(MemberIndex from);
  // Names another member to restore from if Run is at it.
  void Redirect(MemberIndex from) { from_ = from; }
  // One attempt, or several once the data are gone; returns the result of the last one. REQUIRES:
  // Want has returned true.
  Status Run();
  // Closes the store of the spool; blocks. REQUIRES: Run has ended.
  void Close() { spool_.Close(); }
  // Ends a pause, after `stopping` was set.
  void Wake();

  struct Progress {
    std::optional<TimePoint> since;  // set while the data are being replaced
    uint64_t chunk_count = 0;        // of this transfer, or the last one
    uint64_t size = 0;               // bytes of these
    uint64_t taken_count = 0;        // restores that were completed
    uint64_t taken_size = 0;         // bytes of all transfers
  };
  Progress progress() const;

 private:
  using Place = std::shared_ptr<const void>;

  Status Attempt();
  // The next transfer after one that broke off; `place` is empty.
  Status ReplaceAgain(Place& place);
  StatusOr<Place> TakePlace();
  Status Prepare(Restoration& transfer);
  Status Replace(Restoration& transfer);
  Status TakeOver(Restoration& transfer);
  Status AdoptLog(const SnapshotMark& mark);
  Status AwaitStored();
  Status EndData(Lsn executed);
  Status Local(const Status& status);
  std::unique_ptr<Restoration> MakeTransfer();
  void NoteChunk(size_t size);
  void PauseIfRelapsed();
  void NoteResult(const Status& status);
  bool Pause(Duration pause_max);

  const Parts parts_;
  const bool is_ordered_;
  const std::atomic<bool>& stopping_;
  const Hooks hooks_;
  RestoreSpool spool_;
  // Used on the control loop only.
  MemberIndex from_ = 0;
  bool is_running_ = false;
  bool has_failed_ = false;
  Duration pause_{0};
  std::optional<TimePoint> ended_at_;  // the last restore that was completed
  Duration relapse_pause_{0};

  mutable LeafMutex mutex_;
  ThreadRef thread_ ABSL_GUARDED_BY(mutex_);
  Progress progress_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
