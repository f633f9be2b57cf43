// The data of one partition on one replica: what executes writes in the log's order.
//
// A service whose data live in a KeyValueStore takes StoreState (store_state.h), which does all of this. One with a
// database of its own implements it: it has to record the log sequence number with what the write changes, as one.
//
// Source: [Shen02] 5.2.2 (CHECK callback; the service records the LSN as part of the write), 5.1.1 (a service aborts
//   a write on all replicas or on none).
// Threads: Apply and the restoring calls one at a time; the others any time, at once with them.
// Errors: an error of Apply is a failure of this replica (a full disk, damaged data), never a property of the write; the
//   replica stops until it is started again. A write that the data forbid is an outcome.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/replication/log_entry.h"

namespace neptune {

// What a write's caller is told: the same on every replica, because it follows from the data and the entry alone.
struct WriteOutcome {
  Status status;
  std::string response;
  friend bool operator==(const WriteOutcome&, const WriteOutcome&) = default;
};

class ReplicatedState {
 public:
  virtual ~ReplicatedState() = default;

  // The CHECK callback: all writes up to this one, and none after it, are in the data.
  virtual Lsn completed() const = 0;

  // Executes the write after the last one that completed. REQUIRES: entry.lsn > completed(); entries between are not
  // writes.
  virtual StatusOr<WriteOutcome> Apply(const LogEntry& entry) = 0;

  // Makes all that is completed durable. Returns the last write that is.
  virtual StatusOr<Lsn> Flush() = 0;

  // Gives the data as they are now, in pieces of at most `piece_size_max` bytes, and the last write in them. False from
  // `piece` ends it early.
  using PieceHandler = std::function<bool(std::string_view piece)>;
  virtual StatusOr<Lsn> WriteSnapshot(size_t piece_size_max, const PieceHandler& piece) const = 0;

  // Takes the place of all data: begin, every piece in order, then the last write in them. After a failure between, and
  // after a crash, the state is empty (completed() is 0) and can begin again.
  virtual Status BeginRestore() = 0;
  virtual Status RestorePiece(std::string_view piece) = 0;
  virtual Status EndRestore(Lsn completed) = 0;
};

}  // namespace neptune
