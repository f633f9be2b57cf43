// Reads the log of a node back, slowly, so that damage is found while other members still have what
// is lost, and replaces the segments in which something has decayed.
//
//   due ─► check, a part at a time ─► end ─► due again, `interval` after the pass began
//              │ damage: reported
//              ├─► the replicas are asked to look at their logs (on_damage)
//              └─► mend: what is needed of the segment is copied, the segment is removed
//
// Damage that others meet, i.e. reads and copies, is noticed within a second.
//
// Threads: used on the control loop, but standing() on any thread; the reads run in the device
//   capsule replication-snapshot, below those of requests.
// Limits: kLogScrubPartSize bytes (or one batch) a read; kLogScrubBytesPerSecond for checks and for
//   copies.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/time.h"
#include "neptune/replication/agent/replica_device.h"
#include "neptune/replication/agent/scrub_pass.h"
#include "neptune/replication/log/shared_log.h"
#include "neptune/service/node_loops.h"

namespace neptune {

inline constexpr size_t kLogScrubPartSize = 256u << 10;
inline constexpr size_t kLogScrubBytesPerSecond = 2u << 20;

class LogScrubber {
 public:
  struct Hooks {
    // The log that is open; null: none.
    std::function<std::shared_ptr<SharedLog>()> log;
    // Some partition's log may have lost something. Called on a user-level thread.
    std::function<void()> on_damage;
  };
  // `capsules` may be null; the rest must outlive this object.
  LogScrubber(NodeLoop& control, CapsuleStack* capsules, Hooks hooks);

  // Checks the log from now on, each time within this interval, or the shortest of several calls.
  // Zero: this caller does not want it.
  void Want(Duration interval);
  // Ends soon; all has ended once in_use() is false.
  void Stop();
  bool in_use() const { return is_running_; }

  struct Standing {
    ScrubProgress progress;
    uint64_t damage_count = 0;  // places and entries found damaged
    std::string last_damage;    // empty: none
  };
  Standing standing() const;

 private:
  void Run();
  void CheckPart();
  // Copies a part of what must be replaced; false: nothing must be.
  bool MendPart();
  void LookForDamage();
  StatusOr<SharedLog::Checked> Check(const LogSpot& from) const;
  // Waits until `size` bytes may have been read since `began_at`.
  void AwaitRate(size_t size, TimePoint began_at);

  NodeLoop& control_;
  const Hooks hooks_;
  std::atomic<bool> stopping_{false};
  const ReplicaDevice device_;
  std::unique_ptr<ScrubPass> pass_;  // null: none is wanted
  Duration interval_{0};
  LogSpot at_;
  LogSpot end_;  // of this pass
  bool must_mend_ = true;
  uint64_t seen_count_ = 0;  // what the log says, which begins at 0 when it is opened again
  ThreadRef thread_;
  bool is_running_ = false;

  mutable LeafMutex mutex_;
  Standing standing_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
