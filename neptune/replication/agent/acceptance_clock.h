// The times at which the writes of a partition count as accepted: the primary's wall clock, except
// that no write is earlier than one before it in the log, whoever ordered that one.
//
// A wall clock that jumps back stands still for writes until it has caught up with the newest write
// in the log. A clock that jumps ahead takes the times of all later writes with it: no clock here
// can tell that it is wrong.
//
// No I/O; the wall clock is passed in.
// Threads: thread-compatible.
// Units: nanoseconds since 1970 UTC.

#pragma once

#include <algorithm>

#include "neptune/base/time.h"
#include "neptune/replication/log/log_entry.h"

namespace neptune {

class AcceptanceClock {
 public:
  // An entry of the log, in any order.
  void Note(const LogEntry& entry) {
    if (IsWrite(entry.kind)) Note(entry.accepted_at);
  }
  void Note(WallTime accepted_at) { newest_ns_ = std::max(newest_ns_, accepted_at.ns_since_1970); }
  // The time of a write that is ordered now.
  WallTime TimeOf(WallTime now) const { return {std::max(newest_ns_, now.ns_since_1970)}; }

 private:
  int64_t newest_ns_ = 0;
};

}  // namespace neptune
