// A replicated service on simulated nodes under random faults, and the check of its guarantees.
//
//   sessions append texts to registers and read them ─► history ─► checks
//   servers and their disks, loops, links and capsules have faults; floods of requests
//
// The checks of levels 2 and 3 are those of CheckRegisters (tools/history/register_history.h),
// those of level 1 are those of CheckInserts. At every level writes succeed again after the faults,
// and all replicas then have the same data.
//
// Threads: independent runs may be in several threads.
// Units: virtual time.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/time.h"
#include "neptune/world/faults/fault.h"
#include "neptune/world/faults/fault_counts.h"

namespace search::lab {

struct ReplicationChaosOptions {
  uint64_t seed = 1;
  // Replicas of each partition. With an even number there is also a witness, except at level 1.
  int replica_count = 3;
  // A level of the cluster spec. With `write_anywhere` texts are inserted instead of appended.
  std::string level = "staleness_bounded";
  // The maximum number of servers that are down or hang at the same time.
  int servers_down_max = 2;
  // Above kAwakeReplicaCountMax (agent/replication.h) idle partitions rest. Sessions then call less
  // often, so that partitions rest and wake all the time.
  uint32_t partition_count = 2;
  neptune::Duration faults = std::chrono::seconds(20);
  // The only kind of fault. Unset: all of ChaosKinds, mixed.
  std::optional<neptune::Fault::Kind> only{};
};

struct ReplicationChaosResult {
  // The first violation; empty: none.
  std::string wrong;
  neptune::FaultSchedule schedule;  // the faults that happened
  neptune::FaultCounts faults;      // and how many of them disturbed something
  uint64_t acknowledged_count = 0;
  uint64_t read_count = 0;
  uint64_t failed_count = 0;  // calls without an answer in time
  uint64_t primary_count = 0;
  uint64_t rest_count = 0;     // partitions found at rest, in looks a second apart
  double longest_block_s = 0;  // the longest time without an acknowledgement during faults
};

// The kinds that are drawn, each as often as its weight says. At level 1 those that may lose what
// was stored are left out, because the only copy of a write may be on one disk.
std::vector<neptune::Fault::Kind> ChaosKinds(const ReplicationChaosOptions& options);

// Chooses by the seed what `repl_chaos` does: two of four seeds have all kinds mixed, two one kind
// alone; one of such a pair has disks that take time. At the ordered levels eight of 64 consecutive
// seeds have nodes of kRestingPartitionCount partitions.
inline constexpr uint32_t kRestingPartitionCount = 40;
void ChooseFaults(ReplicationChaosOptions* options);

ReplicationChaosResult RunReplicationChaos(const ReplicationChaosOptions& options);

// Returns the shortest part found of the schedule with which the run still has a violation.
// REQUIRES: the run has one with the whole schedule.
neptune::FaultSchedule Minimise(const ReplicationChaosOptions& options,
                                const neptune::FaultSchedule& schedule);

}  // namespace search::lab
