// What a call of a replicated service says beside its request, and its answer beside the response.
//
// Source: [Shen02] 5.2.1 (versions in each invocation and in what it returns).
// Departs from source: a write has a name, so that it can be asked for again; an answer tells how stale it may be.
// Threads: immutable values.
// Units: staleness is time that passed on one member's clock; it is rounded up to microseconds.
// Errors: kDataLoss the bytes are none.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/replication/log_entry.h"

namespace neptune {

struct ReplicaDemand {
  // Of a write.
  RequestId id;
  // A read is answered from no older version. 0: any.
  Lsn version_min = 0;
  // And from none that the partition had no longer so long ago. Absent: as the service says.
  std::optional<Duration> staleness_max;
  friend bool operator==(const ReplicaDemand&, const ReplicaDemand&) = default;
};

struct ReplicaReport {
  // Of the data that answered; of a write, the version that it made. At level 1 there are none that could be compared: 0.
  Lsn version = 0;
  // The data were the partition's newest at most so long ago. Absent: not known, as always at level 1, which promises no
  // more than that all writes arrive in the end.
  std::optional<Duration> staleness;
  Epoch epoch = 0;
  // The method ran: the status is what it returned. Else the replica did not take the request.
  bool was_served = false;
  // Who is the primary, as far as this replica knows; may be empty.
  NodeId primary;
  friend bool operator==(const ReplicaReport&, const ReplicaReport&) = default;
};

std::string EncodeReplicaDemand(const ReplicaDemand& demand);
StatusOr<ReplicaDemand> DecodeReplicaDemand(std::string_view bytes);
std::string EncodeReplicaReport(const ReplicaReport& report);
StatusOr<ReplicaReport> DecodeReplicaReport(std::string_view bytes);

}  // namespace neptune
