// Reads the stored data of a node's replicas back, slowly and in turn, so that damage is found and
// repaired before a reader meets it, and while another member still has the data.
//
// What it reads does not displace what is cached. Blocks that are in the store's cache already, and
// pages in that of the operating system, are not read from the disk again.
//
// Threads: used on the control loop; the reads run in the device capsule replication-snapshot.
// Limits: kScrubPartSize bytes (or one value) a read; kScrubBytesPerSecond over all replicas of the
//   node, so a pass over much data takes longer than its interval, and the next begins at its end.

#pragma once

#include <functional>
#include <map>
#include <vector>

#include "neptune/base/time.h"
#include "neptune/replication/agent/replica_keeper.h"
#include "neptune/replication/agent/scrub_pass.h"
#include "neptune/service/node_loops.h"

namespace neptune {

inline constexpr size_t kScrubPartSize = 256u << 10;
inline constexpr size_t kScrubBytesPerSecond = 4u << 20;
// The first pass of a replica begins within this time, or within its interval if that is shorter.
inline constexpr Duration kScrubFirstMax = std::chrono::minutes(5);
// Delay after a part could not be read.
inline constexpr Duration kScrubRetry = std::chrono::minutes(1);

class DataScrubber {
 public:
  explicit DataScrubber(NodeLoop& control) : control_(control) {}

  // Checks the replica's data from now on, if its options want that. The replica must outlive this.
  void Add(ReplicaKeeper& replica);
  // Ends soon; all has ended once in_use() is false.
  void Stop();
  bool in_use() const { return is_running_; }

 private:
  void Run();
  // Checks the part that is due.
  void CheckPart(ReplicaKeeper& replica, ScrubPass& pass);

  NodeLoop& control_;
  std::map<ReplicaKeeper*, ScrubPass> passes_;
  ThreadRef thread_;
  bool is_running_ = false;
  bool stopping_ = false;
};

}  // namespace neptune
