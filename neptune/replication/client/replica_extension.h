// Extensions of calls of replicated services: the demand in a request, the report in an answer.
//
// Source: [Shen02] 5.2.1 (versions in each invocation and in what it returns).
// Departs from source: a write has an id, so that it can be retried; an answer states its maximum
//   staleness.
// Threads: immutable values.
// Units: staleness is time that passed on one member's clock, rounded up to microseconds.
// Errors: kDataLoss the bytes are malformed.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/replication/log/log_entry.h"

namespace neptune {

struct ReplicaDemand {
  // Set for writes.
  RequestId id;
  // Minimum version of the data for a read. 0: any.
  Lsn version_min = 0;
  // Maximum staleness of the data for a read. Unset: the service's bound.
  std::optional<Duration> staleness_max;
  friend bool operator==(const ReplicaDemand&, const ReplicaDemand&) = default;
};

struct ReplicaReport {
  // Version of the data that answered a read, or version that a write created. 0 at
  // `write_anywhere`, where versions of different replicas cannot be compared.
  Lsn version = 0;
  // The data were the partition's newest at most this long ago. Unset: not known, as always at
  // `write_anywhere`, which only guarantees that all writes arrive eventually.
  std::optional<Duration> staleness;
  Epoch epoch = 0;
  // True if the method ran and the status is its result. False if the replica refused the request.
  bool was_served = false;
  // The primary, as far as this replica knows; may be empty.
  NodeId primary;
  friend bool operator==(const ReplicaReport&, const ReplicaReport&) = default;
};

std::string EncodeReplicaDemand(const ReplicaDemand& demand);
StatusOr<ReplicaDemand> DecodeReplicaDemand(std::string_view bytes);
std::string EncodeReplicaReport(const ReplicaReport& report);
StatusOr<ReplicaReport> DecodeReplicaReport(std::string_view bytes);

}  // namespace neptune
