#include "neptune/capsule/device_store.h"

#include <utility>

#include "neptune/capsule/device_call.h"

namespace neptune {

DeviceStore::DeviceStore(KeyValueStore& store, CapsuleStack& stack, std::string_view path,
                         VisitOptions options)
    : store_(store), stack_(stack), path_(path), options_(std::move(options)) {}

StatusOr<std::optional<std::string>> DeviceStore::Get(std::string_view key) const {
  return RunOnDevice(
      stack_, path_, [this, key] { return store_.Get(key); }, options_, DeviceWait::kForEnd);
}

Status DeviceStore::Write(const WriteBatch& batch, WriteMode mode) {
  return RunOnDevice(
      stack_, path_, [this, &batch, mode] { return store_.Write(batch, mode); }, options_,
      DeviceWait::kForEnd);
}

Status DeviceStore::Sync() {
  return RunOnDevice(
      stack_, path_, [this] { return store_.Sync(); }, options_, DeviceWait::kForEnd);
}

Status DeviceStore::Scan(const ScanOptions& options, const Visitor& visitor) const {
  return RunOnDevice(
      stack_, path_, [this, &options, &visitor] { return store_.Scan(options, visitor); }, options_,
      DeviceWait::kForEnd);
}

}  // namespace neptune
