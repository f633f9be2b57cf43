// Identity of a replica's log: whose log it is, and in which order its entries are.
//
// Threads: immutable values.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "neptune/base/ids.h"

namespace neptune {

// RedoLog::Open refuses a log of another identity.
struct LogIdentity {
  std::string cluster;
  ServiceName service;
  PartitionId partition;
  NodeId node;
  // True if all members share one order; otherwise (`write_anywhere`) each log has its own, with
  // other entries.
  bool is_ordered = true;
  // Partition count of the service, which decides the partition of a key; 0: not known, not
  // compared.
  uint32_t partition_count = 0;
  // The nodes that a MemberIndex in an ordered log refers to. A node may take another's place;
  // otherwise they must stay the same.
  std::vector<NodeId> members;
};

}  // namespace neptune
