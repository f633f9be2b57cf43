// A pulse, or its answer: a node's sign of life for all partitions that it shares with another.
//
// Threads: immutable values.
// Errors: kDataLoss the bytes are malformed.
// Limits: names of 255 bytes; kPulseEndCountMax ends.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"

namespace neptune {

inline constexpr size_t kPulseEndCountMax = 4096;

// A partition whose primary was on the node until its replica ended there.
struct LeadEnd {
  ServiceName service;
  PartitionId partition;
  friend bool operator==(const LeadEnd&, const LeadEnd&) = default;
};

struct NodePulse {
  NodeId from;
  // Differs from start to start of the node.
  uint64_t incarnation = 0;
  // Number of ends since the start, and the last of them.
  uint64_t end_count = 0;
  std::vector<LeadEnd> ends;
  friend bool operator==(const NodePulse&, const NodePulse&) = default;
};

std::string EncodeNodePulse(const NodePulse& pulse);
StatusOr<NodePulse> DecodeNodePulse(std::string_view bytes);

}  // namespace neptune
