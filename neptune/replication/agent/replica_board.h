// What a replica shows of itself to other threads: its state, and the versions it had.
//
// Invariant: a primary's lease is shown only once its data contain everything that earlier
// primaries acknowledged.
//
// Threads: thread-safe; Publish one at a time.
// Limits: a primary remembers the versions of about 20 s.

#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/replication/agent/replica_agent.h"

namespace neptune {

class ReplicaBoard {
 public:
  // What is published of the log and the data.
  struct Progress {
    Lsn executed = 0;
    size_t log_size = 0;
  };
  // True if role, primary or epoch have changed.
  bool Publish(const ReplicaStatus& standing, const Progress& progress, TimePoint now);

  void Fail(const Status& status);
  // Log or data were found damaged at the start.
  void NoteDamage(const Status& damage);
  // The data are being replaced, and are no longer known to be current.
  void BeginRestore();
  // The replica has no data until others replace them; `why` says so.
  void BeginRepair(const Status& why);
  bool IsRepairing() const;
  void EndRestore();
  // The result of the last attempt.
  void NoteRestore(const Status& status);

  ReplicaAgent::State state() const;
  struct Leader {
    Epoch epoch = 0;
    std::optional<MemberIndex> primary;
  };
  Leader leader() const;
  // The version that the data had `age` ago, if this is the primary.
  Lsn VersionAgo(Duration age, TimePoint now) const;

 private:
  TimePoint LeasedUntil(const ReplicaStatus& standing, Lsn executed)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable LeafMutex mutex_;
  ReplicaAgent::State published_ ABSL_GUARDED_BY(mutex_);
  // Versions of the primary by time, oldest first.
  std::deque<std::pair<TimePoint, Lsn>> versions_ ABSL_GUARDED_BY(mutex_);
  // The epoch in which a lease was first held, and what the data must contain for it.
  Epoch lease_epoch_ ABSL_GUARDED_BY(mutex_) = 0;
  Lsn lease_needs_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace neptune
