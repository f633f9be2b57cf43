// ReplicatedState in a KeyValueStore: the changes of a run of writes, their answers and the log
// sequence number of the last one are one atomic batch.
//
//   WriteFunction(entry, view) ─► changes, outcome ─┐ the next one sees them (overlaid_store.h)
//   WriteFunction(entry, view) ─► changes, outcome ─┤
//                                                   └─► one batch with the LSN ─► store
//
// The data do not depend on which writes were a run: each write sees what those before it have
// changed, and their answers. A write that fails because the store cannot be read ends its run
// before it, so that the others count.
//
// A write whose RequestId was executed before is not executed again; its answer is repeated.
// Answers of the last kAnswersKept log sequence numbers are remembered, so all replicas remember
// the same. At `write_anywhere` each replica counts in its own log: a write that two replicas
// accepted is executed once if both entries are within kAnswersKept of each other, and twice
// otherwise, e.g. if one replica was cut off for that long.
//
// Source: [Shen02] 5.2.2 (atomic execution and recording of the LSN).
// Threads: as ReplicatedState; Get and Scan any time.
// Durability: a write is durable after Flush, or through the log; a crash leaves the state after
//   one of the last writes.
// Errors: kFailedPrecondition the entry was executed before, or the data are being restored; after
//   a storage error the state must be opened again.
// Limits: kAnswersKept; of answers over kAnswerSizeMax only the status is remembered and repeated;
//   messages are cut to kOutcomeMessageSizeMax. A write with changes over kWriteChangesSizeMax, a
//   key over kStateKeySizeMax or a value over kStorageValueSizeMax changes nothing: its outcome is
//   kInvalidArgument on all replicas.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/replication/state/replicated_state.h"
#include "neptune/replication/state/snapshot_pieces.h"
#include "neptune/world/storage.h"

namespace neptune {

class AnswerFilter;

inline constexpr Lsn kAnswersKept = 100'000;
inline constexpr size_t kAnswerSizeMax = 16u << 10;
inline constexpr size_t kOutcomeMessageSizeMax = 1024;
inline constexpr size_t kStateKeySizeMax = kStorageKeySizeMax - 1;
inline constexpr size_t kWriteChangesSizeMax = kWriteBatchSizeMax - (1u << 20);

// The service's keys of one partition, without the runtime's own keys.
class StoreView {
 public:
  // `failure`, if not null, receives the first error of the store: a replica must not mistake a
  // read failure for an outcome.
  explicit StoreView(const KeyValueStore& store, Status* failure = nullptr)
      : store_(store), failure_(failure) {}
  StatusOr<std::optional<std::string>> Get(std::string_view key) const;
  Status Scan(const ScanOptions& options, const KeyValueStore::Visitor& visitor) const;

 private:
  Status Noted(const Status& status) const;

  const KeyValueStore& store_;
  Status* const failure_;
};

// The changes of one write.
class StoreChanges {
 public:
  explicit StoreChanges(WriteBatch& batch) : batch_(batch) {}
  void Put(std::string_view key, std::string_view value);
  void Delete(std::string_view key);
  void DeleteRange(std::string_view first, std::string_view end);

 private:
  WriteBatch& batch_;
};

// Input of a write. A write must be a deterministic function of it and of the request, since every
// replica executes it at a different time. A write at `write_anywhere` must commute with all
// others, and must not use `lsn`, which differs between replicas, nor `accepted_at`, of which a
// write that was retried at another replica has two.
struct WriteContext {
  PartitionId partition;
  Lsn lsn = 0;
  WallTime accepted_at;
  const StoreView& store;
  StoreChanges& changes;
  RequestId id{};  // zero: none
};

// Executes a write. If it returns an error, its changes are discarded and the caller gets the
// error.
using WriteFunction = std::function<Status(const WriteContext& context, std::string_view request,
                                           std::string* response)>;

class StoreState final : public ReplicatedState {
 public:
  struct Options {
    PartitionId partition;
    std::map<MethodName, WriteFunction> writes;
    // Called in the log's order for each write that changed something, after its run; with null
    // after a restore.
    std::function<void(const LogEntry* entry)> on_change;
  };
  // Errors: those of the storage; kDataLoss the runtime's own records are damaged.
  static StatusOr<std::unique_ptr<StoreState>> Open(std::unique_ptr<KeyValueStore> store,
                                                    Options options);
  ~StoreState() override;

  // During a restore the view shows an arbitrary part of the data.
  const StoreView& view() const { return view_; }
  // The underlying store, for other kinds of views; only StoreState writes to it.
  KeyValueStore& store() const { return *store_; }

  Lsn completed() const override;
  WallTime newest_write() const override { return {newest_write_ns_}; }
  StatusOr<WriteOutcome> Apply(const LogEntry& entry) override;
  // Also ends a run whose changes are large.
  StatusOr<std::vector<WriteOutcome>> ApplyRun(const std::vector<const LogEntry*>& writes,
                                               const std::function<bool()>& is_over) override;
  StatusOr<Lsn> Flush() override;
  // Errors: also kFailedPrecondition the data are being restored.
  StatusOr<std::unique_ptr<SnapshotSource>> OpenSnapshot() const override;
  Status BeginRestore() override;
  Status RestorePiece(std::string_view piece) override;
  Status RestoreRun(const std::vector<const LogEntry*>& writes) override;
  StatusOr<Lsn> EndRestore() override;
  StatusOr<VerifiedPart> Verify(std::string_view from, size_t size_max) const override;

 private:
  StoreState(std::unique_ptr<KeyValueStore> store, Options options);

  Status Load();
  Status LoadNewestWrite();
  Status CheckUsable() const;
  // Removes everything; `mark` records that a restore is in progress.
  Status Wipe(bool mark);
  Status CheckComplete();
  Status Fail(const Status& status);

  // Writes that are executed, and not in the store yet.
  struct Run;
  struct Executed {
    WriteOutcome outcome;
    bool has_changed = false;  // the service's data
  };
  using Writes = std::span<const LogEntry* const>;
  // Executes the first of the writes, at least one, and adds them to the run.
  StatusOr<std::vector<Executed>> ExecuteSome(Writes writes, const std::function<bool()>& is_over,
                                              Run& run);
  // Executes the write that follows the run, and adds it to the run. nullopt: the run has no room
  // for its changes, and must be written first.
  StatusOr<std::optional<Executed>> ExecuteNext(const LogEntry& entry, Run& run);
  // Puts the run into the store; `is_restore`: of data that are not complete.
  Status WriteRun(Run& run, bool is_restore);
  // The answer to an earlier entry with this id, if still remembered at `lsn`.
  StatusOr<std::optional<WriteOutcome>> FindAnswer(const KeyValueStore& data, const RequestId& id,
                                                   Lsn lsn) const;
  // Runs the write on the data and puts its changes into `batch`.
  StatusOr<WriteOutcome> Execute(const KeyValueStore& data, const LogEntry& entry,
                                 WriteBatch& batch) const;
  Status ForgetAnswers(Run& run) const;

  const std::unique_ptr<KeyValueStore> store_;
  const Options options_;
  const StoreView view_;
  std::atomic<Lsn> completed_{0};
  std::atomic<int64_t> newest_write_ns_{0};
  const std::unique_ptr<AnswerFilter> answered_;
  Status broken_;
  struct Restore {
    SnapshotReader reader;
    Lsn executed = 0;  // the last write that was executed on the pieces
  };
  std::optional<Restore> restore_;
};

}  // namespace neptune
