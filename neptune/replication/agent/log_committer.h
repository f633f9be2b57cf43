// The log of a node for all its replicas: changes of several replicas that wait at the same time
// are stored with one sync.
//
//   storing threads of replicas ──Store──► queue ──the first of them──► device ─► RedoLog
//          ▲                                              │                          │
//          └──── results, and the next group's leader ────┴──────────────────────────┘
//
// Threads: Store parks, on user-level threads of any loops; Open and Settle block.
// Errors: those of RedoLog, and kCancelled the node or the replica is stopping.
// Limits: a group of kGroupSizeMax bytes, or of one larger change; one group at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/replication/agent/replica_device.h"
#include "neptune/replication/log/node_log.h"
#include "neptune/replication/log/redo_log.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/storage.h"

namespace neptune {

class LogCommitter {
 public:
  static constexpr size_t kGroupSizeMax = 16u << 20;

  // `new_salt`: see SharedLogOptions. `storage` must outlive this object and all logs.
  LogCommitter(DurableStorage& storage, uint64_t new_salt)
      : storage_(storage), node_log_(storage.log_files(), {.new_salt = new_salt}) {}

  // Opens the log of a replica. Errors: kFailedPrecondition also a log of an older version, which
  // is in a store of its own.
  StatusOr<std::unique_ptr<RedoLog>> Open(const LogIdentity& identity);

  // Stores the change, alone or with those of other replicas, in the log lane of `device`.
  Status Store(const ReplicaDevice& device, std::shared_ptr<RedoLog> log,
               std::shared_ptr<const LogChange> change);

  // Lets damage of the last change be found. Called when nothing was stored for a while.
  Status Settle() { return node_log_.SyncMark(); }

  // False: there was no store of this name when the first log was opened.
  bool MayHaveStore(const std::string& name);

  // The log that is open; null: none yet.
  std::shared_ptr<SharedLog> log() const { return node_log_.current(); }
  SharedLog::Statistics statistics() const { return node_log_.statistics(); }

 private:
  enum class Turn { kQueued, kTaken, kLeads, kDone };
  struct Waiting {
    std::shared_ptr<RedoLog> log;
    std::shared_ptr<const LogChange> change;
    ThreadRef thread;
    Turn turn = Turn::kQueued;
    Status result;
  };
  using Group = std::vector<std::shared_ptr<Waiting>>;

  Status CheckNoOlderLog(const std::string& name);
  // Returns once `own` leads or is done; kCancelled the node is stopping.
  Status Await(const std::shared_ptr<Waiting>& own);
  // Stores the group that begins with `own`, the first in the queue.
  void Lead(const ReplicaDevice& device, const std::shared_ptr<Waiting>& own);
  Group TakeGroup();
  void PassOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  DurableStorage& storage_;
  NodeLog node_log_;
  LeafMutex mutex_;
  std::deque<std::shared_ptr<Waiting>> queue_ ABSL_GUARDED_BY(mutex_);
  bool is_led_ ABSL_GUARDED_BY(mutex_) = false;
  // The storage's stores when the first log was opened; nullopt: not listed yet.
  std::optional<std::set<std::string>> stores_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
