// A key-value store whose calls wait in a device capsule instead of blocking the calling loop.
//
// Source: [Chu05] IV.B.
// Threads: on a user-level thread, which parks. Visitors of Scan run on a helper thread; they must
//   not wait.
// Errors: those of CapsulePermit::Enter, and the store's.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/capsule/capsule_permit.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/world/storage.h"

namespace neptune {

class DeviceStore final : public KeyValueStore {
 public:
  // `path` is matched against the rules of capsules. `options` apply to every call; a call that has
  // begun is waited for, however long it takes. All arguments must outlive the store.
  DeviceStore(KeyValueStore& store, CapsuleStack& stack, std::string_view path,
              VisitOptions options);

  StatusOr<std::optional<std::string>> Get(std::string_view key) const override;
  Status Write(const WriteBatch& batch, WriteMode mode) override;
  Status Sync() override;
  Status Scan(const ScanOptions& options, const Visitor& visitor) const override;
  // The view's scans wait in the same device capsule.
  StatusOr<std::unique_ptr<KeyValueView>> OpenView() const override;

 private:
  KeyValueStore& store_;
  CapsuleStack& stack_;
  const std::string_view path_;
  const VisitOptions options_;
};

}  // namespace neptune
