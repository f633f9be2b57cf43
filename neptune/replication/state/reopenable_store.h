// The store of a partition's data as its readers see it: one object for as long as the service
// runs, while the store beneath it is closed and opened again after failures.
//
//   StoreState ─► Hold(store) ──┐ read and written
//                               ▼
//   readers ─► ReopenableStore ─► store, while it is open
//
// A store that is closed is gone only after the reads that are in it have ended.
//
// Threads: thread-safe. Reads block the kernel thread, as those of any store.
// Errors: those of the store; kUnavailable no store is open; kFailedPrecondition a write: only the
//   holder writes.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/world/storage.h"

namespace neptune {

class ReopenableStore final : public KeyValueStore {
 public:
  // `on_damage` is called with each kDataLoss that a reader meets, on the reader's thread.
  explicit ReopenableStore(std::function<void(const Status&)> on_damage)
      : on_damage_(std::move(on_damage)) {}

  // Shows the store to readers until the result, which reads and writes it, is destroyed.
  // REQUIRES: the former result is destroyed.
  std::unique_ptr<KeyValueStore> Hold(std::unique_ptr<KeyValueStore> store);

  StatusOr<std::optional<std::string>> Get(std::string_view key) const override;
  Status Write(const WriteBatch& batch, WriteMode mode) override;
  Status Sync() override;
  Status Scan(const ScanOptions& options, const Visitor& visitor) const override;
  // The view keeps the store open, so its holder must not keep it long. Damage that it meets is not
  // reported.
  StatusOr<std::unique_ptr<KeyValueView>> OpenView() const override;

 private:
  StatusOr<std::shared_ptr<KeyValueStore>> Current() const;
  Status Noted(const Status& status) const;

  const std::function<void(const Status&)> on_damage_;
  mutable LeafMutex mutex_;
  std::weak_ptr<KeyValueStore> current_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
