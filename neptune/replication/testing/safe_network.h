// Members of the protocol `safe` in a simulated network, for its tests.
//
// Threads: thread-compatible.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "neptune/base/time.h"
#include "neptune/replication/protocol/safe/safe_replica.h"
#include "neptune/replication/testing/replica_network.h"

namespace neptune::replication_testing {

inline NetworkOptions SafeMembers(int count, int witnesses = 0, uint64_t seed = 1) {
  return {.seed = seed,
          .member_count = count,
          .witness_count = witnesses,
          .make = [](const ReplicaGroup& group, const LogOutline& found, uint64_t incarnation,
                     uint64_t random, TimePoint now) -> std::unique_ptr<ReplicationProtocol> {
            return std::make_unique<SafeReplica>(group, SafeReplicaOptions(), found, incarnation,
                                                 random, now);
          }};
}

// Writes for `time`; returns true if all members are healthy afterwards.
inline bool IsWholeAfter(ReplicaNetwork& network, Duration time) {
  network.WriteFor(time);
  network.RunFor(std::chrono::milliseconds(200));
  return network.IsWhole();
}

}  // namespace neptune::replication_testing
