// The writes of this replica's callers that are ordered but not executed yet.
//
// Invariant: a write is answered once: with its outcome, or with an error if another primary put
// another entry in its place. Writes of one RequestId wait for one entry.
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
  RequestId id;
  Epoch epoch = 0;
  Lsn lsn = 0;
  Status failure;
  WriteOutcome outcome;
};

class PendingWrites {
 public:
  void Add(std::shared_ptr<PendingWrite> write);
  // Lets the write wait for the entry that another one of its id, if it has one, waits for. False:
  // there is none that this primary, of `epoch`, has ordered.
  bool Join(const std::shared_ptr<PendingWrite>& write, Epoch epoch);
  // Answers those that wait for these entries.
  void Deliver(std::vector<ExecutedEntry> executed);
  // Answers those that wait for entries up to `last`, which restored data contain, with
  // kUnavailable.
  void FailUpTo(Lsn last);
  // Answers all with kUnavailable.
  void FailAll(const char* why);

 private:
  struct Place {
    Lsn lsn = 0;
    Epoch epoch = 0;
  };
  std::multimap<Lsn, std::shared_ptr<PendingWrite>> writes_;
  std::map<RequestId, Place> places_;
};

}  // namespace neptune
