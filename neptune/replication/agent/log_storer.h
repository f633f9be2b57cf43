// Stores the changes of a replica's log in their order, while its protocol continues.
//
//   Push ─► UnstoredChanges ─► log, on its device ─► on_stored, messages that waited, restore
//
// Threads: Run is the body of a user-level thread of the control loop; Wake from any thread; the
//   rest on the control loop.
// Errors: those of the log are reported to on_failure, and Run ends.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/replication/agent/replica_log.h"
#include "neptune/replication/agent/unstored_changes.h"
#include "neptune/thread/synchronization.h"

namespace neptune {

class LogStorer {
 public:
  struct Hooks {
    // The change of this number, and with it all earlier ones, is durable.
    std::function<void(uint64_t number, Duration took)> on_stored;
    std::function<void(const OutgoingMessage& message)> send;
    std::function<void(MemberIndex from)> restore;
    // The log no longer has the entries before `first`.
    std::function<void(Lsn first)> on_dropped;
    std::function<void(const Status& status)> on_failure;
  };
  // Run ends once `stopping` is true and it is woken. The references must outlive this object.
  LogStorer(ReplicaLog& log, const std::atomic<bool>& stopping, Hooks hooks)
      : log_(log), stopping_(stopping), hooks_(std::move(hooks)) {}

  void Run();
  void Wake();

  // Takes all of the actions but those for at once.
  void Push(ProtocolActions&& actions);
  // Drops the entries before `first` after the batch that is being stored.
  void DropBefore(Lsn first);

  const UnstoredChanges& unstored() const { return unstored_; }
  // The number of the last change that was pushed, and whether one is durable.
  uint64_t last_number() const { return last_number_; }
  bool IsStored(uint64_t number) const { return stored_number_ >= number; }

 private:
  // Parks; settles the log if nothing has been stored for a while.
  ParkResult Idle();
  // False: the log has failed.
  bool StoreBatch();
  bool DropEntries();

  ReplicaLog& log_;
  const std::atomic<bool>& stopping_;
  const Hooks hooks_;
  UnstoredChanges unstored_;
  uint64_t last_number_ = 0;
  uint64_t stored_number_ = 0;
  Lsn drop_before_ = 0;  // 0: nothing to drop
  bool is_settled_ = true;

  LeafMutex mutex_;
  ThreadRef thread_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
