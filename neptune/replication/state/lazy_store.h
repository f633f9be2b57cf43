// A store that does not exist yet, and that its first write creates, so that a node with thousands
// of empty partitions starts at once.
//
// Threads: Write and Sync one at a time; the rest any time, also during the first write.
// Errors: those of KeyValueStore; Write: also those of DurableStorage::Open.

#pragma once

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/world/storage.h"

namespace neptune {

class LazyStore final : public KeyValueStore {
 public:
  // REQUIRES: there is no store of this name, and no other one creates it. `storage` must outlive
  // this object.
  LazyStore(DurableStorage& storage, std::string name)
      : storage_(storage), name_(std::move(name)) {}

  StatusOr<std::optional<std::string>> Get(std::string_view key) const override;
  Status Write(const WriteBatch& batch, WriteMode mode) override;
  Status Sync() override;
  Status Scan(const ScanOptions& options, const Visitor& visitor) const override;
  StatusOr<std::unique_ptr<KeyValueView>> OpenView() const override;

 private:
  // Null: not created yet.
  KeyValueStore* Created() const;

  DurableStorage& storage_;
  const std::string name_;
  mutable LeafMutex mutex_;
  std::unique_ptr<KeyValueStore> created_ ABSL_GUARDED_BY(mutex_);  // never changes again
};

}  // namespace neptune
