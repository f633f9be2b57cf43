// State machine of one partition on one replica: executes writes in the log's order.
//
// A service with data in a KeyValueStore uses StoreState (store_state.h), the implementation. A
// service with its own database implements this interface and must record the log sequence number
// atomically with the changes of the write.
//
// Source: [Shen02] 5.2.2 (CHECK callback; the service records the LSN as part of the write), 5.1.1
//   (a service aborts a write on all replicas or on none).
// Threads: Apply, ApplyRun and the restoring calls one at a time; the others concurrently at any
//   time.
// Errors: an error of Apply or ApplyRun is a failure of this replica (a full disk, damaged data),
//   never a property of the write; the replica stops and is opened again. kDataLoss means that
//   something stored is damaged: the data are then replaced by another member's. A write that the
//   data forbid is an outcome.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/replication/log/log_entry.h"

namespace neptune {

// Answer to a write's caller; the same on every replica, because it depends on data and entry only.
struct WriteOutcome {
  Status status;
  std::string response;
  friend bool operator==(const WriteOutcome&, const WriteOutcome&) = default;
};

// A part of the data that was read back and checked.
struct VerifiedPart {
  size_t size = 0;  // bytes
  // The beginning of the next part; nullopt: all data have been checked.
  std::optional<std::string> next;
};

// The data as they were at one moment, for another replica; writes continue meanwhile. The calls
// block and run one at a time.
class SnapshotSource {
 public:
  virtual ~SnapshotSource() = default;

  // The last write in the data.
  virtual Lsn completed() const = 0;
  // True once all pieces were taken.
  virtual bool is_done() const = 0;
  // Reads the next piece, of at most piece_size_max bytes. REQUIRES: !is_done().
  virtual StatusOr<std::string> Next(size_t piece_size_max) = 0;
};

class ReplicatedState {
 public:
  virtual ~ReplicatedState() = default;

  // The CHECK callback: the data contain all writes up to this one and none after it.
  virtual Lsn completed() const = 0;

  // Executes the next write. REQUIRES: entry.lsn > completed(); entries between them are not
  // writes.
  virtual StatusOr<WriteOutcome> Apply(const LogEntry& entry) = 0;

  // Executes some of the next writes, in their order and at least the first, and returns their
  // outcomes. `is_over` (null: never) is asked after each of them, and ends the run. The outcomes
  // are those that Apply would give one after the other, and count together: a crash keeps all of
  // the run or nothing. Errors: the first write failed; nothing was executed, or it is not known
  // what. Default: executes the first one.
  // REQUIRES: `writes` is not empty; each as for Apply.
  virtual StatusOr<std::vector<WriteOutcome>> ApplyRun(const std::vector<const LogEntry*>& writes,
                                                       const std::function<bool()>& is_over) {
    std::vector<WriteOutcome> outcomes(1);
    NEPTUNE_ASSIGN_OR_RETURN(outcomes[0], Apply(*writes.front()));
    return outcomes;
  }

  // Makes all completed writes durable. Returns the last durable write.
  virtual StatusOr<Lsn> Flush() = 0;

  // Opens a snapshot of the data; any time but during a restore. It may outlive this object.
  virtual StatusOr<std::unique_ptr<SnapshotSource>> OpenSnapshot() const = 0;

  // Replaces all data: BeginRestore, RestorePiece for every piece in order, RestoreRun for the
  // writes that follow them, if any, in their order and any number at a time, then EndRestore,
  // which makes all durable and returns the last write in the data. Until then, and after a failure
  // or crash in between, the state is empty (completed() is 0) and the restore can begin again.
  // Errors: kDataLoss a piece is damaged or not the next one, or the last one is missing.
  virtual Status BeginRestore() = 0;
  virtual Status RestorePiece(std::string_view piece) = 0;
  virtual Status RestoreRun(const std::vector<const LogEntry*>& writes) = 0;
  virtual StatusOr<Lsn> EndRestore() = 0;

  // The latest `accepted_at` of the writes in the data, also of a restored snapshot. Default: not
  // known.
  virtual WallTime newest_write() const { return {}; }

  // Reads what is stored from `from` on (empty: from the beginning), at least one item and about
  // `size_max` bytes, and checks it. Errors: kDataLoss it is damaged. Default: nothing to check.
  virtual StatusOr<VerifiedPart> Verify(std::string_view from, size_t size_max) const {
    return VerifiedPart{};
  }
};

}  // namespace neptune
