// A partition's data in a KeyValueStore: each write's changes, its answer and its log sequence number are one batch.
//
//   WriteFunction(entry, store view) ─► batch, outcome ─► one batch with the LSN ─► the partition's store
//
// A write with a RequestId that was executed before is not executed again; its answer is given once more. The
// kAnswersKept newest are remembered.
//
// Source: dissertation 5.2.2 (atomic execution and recording of the LSN).
// Layer: replication.
// Threads: as ReplicatedState; Get and Scan any time.
// Limits: kAnswersKept; answers over kAnswerSizeMax are remembered without their bytes, and a duplicate then gets the
//   status alone.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/replication/replicated_state.h"
#include "neptune/world/storage.h"

namespace neptune {

inline constexpr Lsn kAnswersKept = 100'000;
inline constexpr size_t kAnswerSizeMax = 16u << 10;

// The service's keys of one partition, apart from what the runtime keeps beside them.
class StoreView {
 public:
  explicit StoreView(const KeyValueStore& store) : store_(store) {}
  StatusOr<std::optional<std::string>> Get(std::string_view key) const;
  Status Scan(const ScanOptions& options, const KeyValueStore::Visitor& visitor) const;

 private:
  const KeyValueStore& store_;
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

// What a write is given. It must follow from this alone: every replica executes it, at another time.
struct WriteContext {
  PartitionId partition;
  Lsn lsn = 0;
  WallTime accepted_at;
  const StoreView& store;
  StoreChanges& changes;
};

// Executes a write. Changes of one that returns an error are not made: the data forbid it, and its caller is told so.
using WriteFunction = std::function<Status(const WriteContext& context, std::string_view request,
                                           std::string* response)>;

class StoreState final : public ReplicatedState {
 public:
  struct Options {
    PartitionId partition;
    std::map<MethodName, WriteFunction> writes;
    // Called after each write that changed something, and with nullopt after a restore; in the order of the log.
    std::function<void(const LogEntry* entry)> on_change;
  };
  // Errors: those of the storage; kDataLoss what the runtime keeps is damaged.
  static StatusOr<std::unique_ptr<StoreState>> Open(std::unique_ptr<KeyValueStore> store,
                                                    Options options);
  ~StoreState() override;

  StoreView view() const { return StoreView(*store_); }

  Lsn completed() const override;
  StatusOr<WriteOutcome> Apply(const LogEntry& entry) override;
  StatusOr<Lsn> Flush() override;
  StatusOr<Lsn> WriteSnapshot(size_t piece_size_max, const TakePiece& piece) const override;
  Status BeginRestore() override;
  Status RestorePiece(std::string_view piece) override;
  Status EndRestore(Lsn completed) override;

 private:
  std::unique_ptr<KeyValueStore> store_;
};

}  // namespace neptune
