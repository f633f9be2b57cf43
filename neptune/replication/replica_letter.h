// A message of a partition's replicas on its way to another node, and many of them in one call.
//
// Threads: immutable values.
// Errors: kDataLoss the bytes are no letters.
// Limits: names of 255 bytes.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"

namespace neptune {

// A message with the partition whose replicas exchange it.
struct ReplicaLetter {
  ServiceName service;
  PartitionId partition;
  NodeId from;
  std::string message;
  friend bool operator==(const ReplicaLetter&, const ReplicaLetter&) = default;
};

std::string EncodeReplicaLetters(const std::vector<ReplicaLetter>& letters);
StatusOr<std::vector<ReplicaLetter>> DecodeReplicaLetters(std::string_view bytes);

}  // namespace neptune
