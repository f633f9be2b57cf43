// The members of a partition, in the order of preference, and which of them this replica is.
//
// Threads: immutable values.

#pragma once

#include <vector>

#include "neptune/base/ids.h"
#include "neptune/replication/log/log_entry.h"

namespace neptune {

struct ReplicaMember {
  NodeId node;
  // Keeps the log and votes but has no data: allows a majority with an even number of replicas.
  bool is_witness = false;
};

// The members of a partition, the preferred primary first, and the index of this one.
struct ReplicaGroup {
  std::vector<ReplicaMember> members;
  MemberIndex self = 0;

  int size() const { return static_cast<int>(members.size()); }
  int majority() const { return size() / 2 + 1; }
  bool IsWitness(MemberIndex member) const { return members[member].is_witness; }
};

}  // namespace neptune
