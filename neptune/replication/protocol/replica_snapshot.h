// The place of a copy of a partition's data in the order of writes.
//
// Threads: immutable values.

#pragma once

#include <optional>
#include <vector>

#include "neptune/replication/log/log_outline.h"
#include "neptune/replication/log/origin_index.h"

namespace neptune {

// The log part of a snapshot (write_anywhere only, where each member has its own log).
struct LogCopy {
  // The entries up to `base` were dropped; `counts` is the number of writes of each origin in them.
  Lsn base = 0;
  OriginCounts counts;
  std::vector<LogEntry> entries;
};

// The place at which a copy of the data ends.
struct SnapshotMark {
  // The last write in the data, and its epoch.
  EpochStart base;
  MemberSet write_set;
  // At `write_anywhere` only.
  std::optional<LogCopy> log;
};

}  // namespace neptune
