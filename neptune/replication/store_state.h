// A partition's data in a KeyValueStore: each write's changes, its answer and its log sequence number are one batch.
//
//   WriteFunction(entry, store view) ─► batch, outcome ─► one batch with the LSN ─► the partition's store
//
// A write with a RequestId that was executed before is not executed again; its answer is given once more. Those of the
// last kAnswersKept log sequence numbers are remembered, so that all replicas remember the same. At level 1 each counts its
// own log: a write that two replicas took is executed once where both entries stand within that many of each other, and twice
// where they do not, as when one of the two was cut off for that long.
//
// Source: [Shen02] 5.2.2 (atomic execution and recording of the LSN).
// Threads: as ReplicatedState; Get and Scan any time.
// Durability: a write is durable when Flush, or the log, has it; a crash leaves the state after one of the last writes.
// Errors: kFailedPrecondition a write that was executed before or comes while the data are restored; after an error of the
//   storage the state has to be opened again.
// Limits: kAnswersKept; answers over kAnswerSizeMax are remembered without their bytes, and a duplicate then gets the
//   status alone; messages are cut to kOutcomeMessageSizeMax. A write whose changes are over kWriteChangesSizeMax, or a key
//   over kStateKeySizeMax, or a value over kStorageValueSizeMax, is not made: its outcome is kInvalidArgument, on all replicas.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/replication/replicated_state.h"
#include "neptune/replication/snapshot_pieces.h"
#include "neptune/world/storage.h"

namespace neptune {

inline constexpr Lsn kAnswersKept = 100'000;
inline constexpr size_t kAnswerSizeMax = 16u << 10;
inline constexpr size_t kOutcomeMessageSizeMax = 1024;
inline constexpr size_t kStateKeySizeMax = kStorageKeySizeMax - 1;
inline constexpr size_t kWriteChangesSizeMax = kWriteBatchSizeMax - (1u << 20);

// The service's keys of one partition, apart from what the runtime keeps beside them.
class StoreView {
 public:
  // `failure`, if given, gets the first error of the store: a replica that cannot read must not take that for an outcome.
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

// What a write is given. It must follow from this alone: every replica executes it, at another time. A write of level 1 must do
// the same in whatever order writes are executed, and must not use `lsn`, which each replica counts by itself; nor
// `accepted_at`, of which a write that was asked for again at another replica has two.
struct WriteContext {
  PartitionId partition;
  Lsn lsn = 0;
  WallTime accepted_at;
  const StoreView& store;
  StoreChanges& changes;
  RequestId id{};  // zero: it has none
};

// Executes a write. Changes of one that returns an error are not made: the data forbid it, and its caller is told so.
using WriteFunction = std::function<Status(const WriteContext& context, std::string_view request,
                                           std::string* response)>;

class StoreState final : public ReplicatedState {
 public:
  struct Options {
    PartitionId partition;
    std::map<MethodName, WriteFunction> writes;
    // Called after each write that changed something, and with null after a restore; in the order of the log.
    std::function<void(const LogEntry* entry)> on_change;
  };
  // Errors: those of the storage; kDataLoss what the runtime keeps is damaged.
  static StatusOr<std::unique_ptr<StoreState>> Open(std::unique_ptr<KeyValueStore> store,
                                                    Options options);
  ~StoreState() override;

  // What is there while the data are restored is any part of them.
  const StoreView& view() const { return view_; }
  // What it keeps them in, for views of another kind; only this writes to it.
  KeyValueStore& store() const { return *store_; }

  Lsn completed() const override;
  StatusOr<WriteOutcome> Apply(const LogEntry& entry) override;
  StatusOr<Lsn> Flush() override;
  // One scan: `piece` must not write to the store; it may block the thread. kCancelled: it ended the snapshot.
  StatusOr<Lsn> WriteSnapshot(size_t piece_size_max, const PieceHandler& piece) const override;
  Status BeginRestore() override;
  Status RestorePiece(std::string_view piece) override;
  Status EndRestore(Lsn completed) override;

 private:
  StoreState(std::unique_ptr<KeyValueStore> store, Options options);

  Status Load();
  Status CheckUsable() const;
  // Everything is removed; `mark` says that a restore is under way.
  Status Wipe(bool mark);
  Status Fail(const Status& status);

  // What an earlier entry with this id was answered, if that is remembered at `lsn`.
  StatusOr<std::optional<WriteOutcome>> FindAnswer(const RequestId& id, Lsn lsn) const;
  // The changes it makes are put into `batch`.
  StatusOr<WriteOutcome> Execute(const LogEntry& entry, WriteBatch& batch) const;
  Status ForgetAnswers(Lsn lsn, WriteBatch& batch) const;

  const std::unique_ptr<KeyValueStore> store_;
  const Options options_;
  const StoreView view_;
  std::atomic<Lsn> completed_{0};
  Status broken_;
  std::optional<SnapshotReader> restore_;
};

}  // namespace neptune
