// The writes of this replica's callers that are ordered but not executed yet.
//
// Invariant: a write is answered once: with its outcome, or with an error if another primary put
// another entry in its place.
//
// Threads: used on the control loop only; writers wait on their own event.

#pragma once

#include <map>
#include <memory>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/replication/agent/replica_data.h"
#include "neptune/replication/log/log_entry.h"
#include "neptune/replication/state/replicated_state.h"
#include "neptune/thread/synchronization.h"

namespace neptune {

struct PendingWrite {
  OneShotEvent done;
  Epoch epoch = 0;
  Lsn lsn = 0;
  Status failure;
  WriteOutcome outcome;
};

class PendingWrites {
 public:
  void Add(std::shared_ptr<PendingWrite> write);
  // Answers those that wait for these entries.
  void Deliver(const std::vector<ExecutedEntry>& executed);
  // Answers all with kUnavailable.
  void FailAll(const char* why);

 private:
  std::multimap<Lsn, std::shared_ptr<PendingWrite>> writes_;
};

}  // namespace neptune
