// A partition's data on one replica: how far the log is executed on them, and their replacement by
// another member's.
//
//   committed and stored ──Allow──► executable() ──ExecuteSome──► executed()
//
// Invariant: the data contain exactly the writes up to executed(), except while some are being
// executed (then possibly up to executing_to()) or while the data are being replaced.
//
// Data in which something stored was found damaged (DATA_LOSS of the state) stay marked as damaged:
// their replica destroys them and takes another member's.
//
// Threads: the positions, exists and is_damaged on any thread; the rest parks and runs on a
//   user-level thread. Changes of the data hold mutex(). Close when no other call is under way.
// Errors: those of the state and of ReplicaDevice.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/replication/agent/replica_device.h"
#include "neptune/replication/agent/replica_log.h"
#include "neptune/replication/state/replicated_state.h"
#include "neptune/thread/synchronization.h"

namespace neptune {

struct ExecutedEntry {
  LogEntry entry;
  WriteOutcome outcome;  // of a write
};

class ReplicaData {
 public:
  // Opens the data; blocks.
  using Opener = std::function<StatusOr<std::unique_ptr<ReplicatedState>>()>;
  // Destroys data that are not open; blocks.
  using Destroyer = std::function<Status()>;
  // `open` is null for a witness, which has no data. Without `destroy` data that cannot be opened
  // cannot be destroyed. `device` must outlive this object.
  ReplicaData(const ReplicaDevice& device, Opener open, Destroyer destroy = nullptr)
      : device_(device), open_(std::move(open)), destroy_(std::move(destroy)) {}

  Status Open();
  // The data count as empty, because the log that led to them is lost. They are kept until another
  // member's data, or the first entry of the new log, replace them.
  void Distrust() { is_distrusted_ = true; }
  bool is_distrusted() const { return is_distrusted_; }
  // Destroys the data, open or not; Open then finds them empty.
  Status Destroy();
  // Closes the data and blocks the kernel thread meanwhile.
  void Close();
  Status CloseOnDevice();
  // False: a witness, or data that are not open.
  bool exists() const { return is_open_; }
  const ReplicatedState* state() const { return state_.get(); }
  // The data contain everything up to the log's base, unless they are distrusted.
  void BeginAfter(Lsn log_base);

  Lsn executable() const { return executable_; }
  Lsn executed() const { return executed_; }
  Lsn executing_to() const { return executing_to_; }
  // Number of times that the data were replaced by another member's.
  uint64_t restore_count() const { return restore_count_; }
  // True once something stored was found damaged.
  bool is_damaged() const { return is_damaged_; }
  void NoteDamage() { is_damaged_ = true; }

  // Writes up to here may be executed.
  void Allow(Lsn to) { executable_ = to; }
  // Executes some of the allowed entries and returns them; none if a restore happened meanwhile.
  // Their writes are a run of the state (ReplicatedState::ApplyRun): they take one write of its
  // store, after which they count. `before_write` is called before a write is executed; may be
  // null.
  StatusOr<std::vector<ExecutedEntry>> ExecuteSome(
      const ReplicaLog& log, const std::function<void(const LogEntry&)>& before_write);
  // Makes all executed writes durable. Returns the last durable one that counts.
  StatusOr<Lsn> Flush();

  // Held while the data change.
  ThreadMutex& mutex() { return mutex_; }
  // Opens a snapshot of the current data. Errors: also kUnavailable the data are distrusted.
  StatusOr<std::unique_ptr<SnapshotSource>> OpenSnapshot() const;

  // Reads the next piece of it. Errors: also kDataLoss, and then the data count as damaged.
  StatusOr<std::string> NextPiece(SnapshotSource& source, size_t size_max) const;

  // Replaces the data: BeginRestore, after which the old ones are gone, RestorePiece for each
  // piece, RestoreEntries for entries after them, EndRestore. The new data count from then on and
  // contain everything up to `executed`. See ReplicatedState. REQUIRES: mutex() is held.
  Status BeginRestore();
  Status RestorePiece(std::string_view piece);
  Status RestoreEntries(const std::vector<LogEntry>& entries);
  Status EndRestore(Lsn executed);

  // Reads and checks the stored data from `from` on, up to about size_max bytes; see
  // ReplicatedState::Verify.
  StatusOr<VerifiedPart> Verify(const std::string& from, size_t size_max) const;

 private:
  // Empties distrusted data.
  Status Discard();
  // Executes the first of the entries, until `is_over`, and moves them to `done`; blocks.
  Status ExecuteHere(std::vector<LogEntry>& entries, const std::function<bool()>& is_over,
                     std::vector<ExecutedEntry>& done);
  Status OpenHere();
  // Marks the data as damaged if that is what the status says.
  Status Noted(Status status) const;

  const ReplicaDevice& device_;
  const Opener open_;
  const Destroyer destroy_;
  std::shared_ptr<ReplicatedState> state_;
  std::atomic<bool> is_open_{false};
  mutable std::atomic<bool> is_damaged_{false};
  ThreadMutex mutex_;
  std::atomic<Lsn> executable_{0};
  std::atomic<Lsn> executed_{0};
  std::atomic<Lsn> executing_to_{0};  // writes up to here may be in the data already
  std::atomic<uint64_t> restore_count_{0};
  std::atomic<bool> is_distrusted_{false};
};

}  // namespace neptune
