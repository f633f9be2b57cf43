// The replicas of a service on simulated nodes s0, s1, ...: whether they take part, and whether one
// has again what it lost.
//
// Threads: the simulation's thread, between its events or in steps of its script.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "neptune/base/ids.h"
#include "neptune/replication/agent/replica_agent.h"
#include "neptune/testing/simulated_nodes.h"

namespace search::lab {

class SimulatedReplicas {
 public:
  // `nodes` outlives this object.
  SimulatedReplicas(neptune::SimulatedNodes& nodes, const neptune::ServiceName& service,
                    int server_count, uint32_t partition_count)
      : nodes_(nodes),
        service_(service),
        server_count_(server_count),
        partition_count_(partition_count) {}

  static std::string NameOf(int server);
  // Null: the node is down, or the replica is not open.
  std::shared_ptr<neptune::ReplicaAgent> Agent(int server, uint32_t partition) const;

  // Every replica serves, and each one's write set has all servers (at level 1 all are peers).
  bool AreWhole(bool is_write_anywhere) const;
  // True if every write that is committed is stored by this server, as the primaries and itself
  // know; false if that is not known now. What it had lost before it has again.
  bool HasEverything(const std::string& server) const;
  // Partitions with a primary that rests.
  size_t CountResting() const;
  // A line that says what each replica is.
  std::string Describe() const;

 private:
  bool IsWhole(int server, uint32_t partition, bool is_write_anywhere) const;
  bool HasEverything(int server, uint32_t partition) const;
  // The state of the primary whose lease is valid now, or that rests; nullopt: there is none.
  std::optional<neptune::ReplicaAgent::State> Primary(uint32_t partition) const;
  std::optional<neptune::ReplicaAgent::State> RestingPrimary(uint32_t partition) const;

  neptune::SimulatedNodes& nodes_;
  const neptune::ServiceName service_;
  const int server_count_;
  const uint32_t partition_count_;
};

}  // namespace search::lab
