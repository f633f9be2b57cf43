#include "neptune/capsule/device_store.h"

#include <utility>

#include "neptune/capsule/device_call.h"

namespace neptune {

DeviceStore::DeviceStore(KeyValueStore& store, CapsuleStack& stack, std::string_view path,
                         VisitOptions options)
    : store_(store), stack_(stack), path_(path), options_(std::move(options)) {}

StatusOr<std::optional<std::string>> DeviceStore::Get(std::string_view key) const {
  NEPTUNE_ASSIGN_OR_RETURN(auto value, RunOnDevice(
                                           stack_, path_, [this, key] { return store_.Get(key); },
                                           options_, DeviceWait::kForEnd));
  return value;
}

Status DeviceStore::Write(const WriteBatch& batch, WriteMode mode) {
  NEPTUNE_ASSIGN_OR_RETURN(
      const Status written,
      RunOnDevice(
          stack_, path_, [this, &batch, mode] { return store_.Write(batch, mode); }, options_,
          DeviceWait::kForEnd));
  return written;
}

Status DeviceStore::Sync() {
  NEPTUNE_ASSIGN_OR_RETURN(const Status synced, RunOnDevice(
                                                    stack_, path_, [this] { return store_.Sync(); },
                                                    options_, DeviceWait::kForEnd));
  return synced;
}

Status DeviceStore::Scan(const ScanOptions& options, const Visitor& visitor) const {
  NEPTUNE_ASSIGN_OR_RETURN(
      const Status scanned,
      RunOnDevice(
          stack_, path_, [this, &options, &visitor] { return store_.Scan(options, visitor); },
          options_, DeviceWait::kForEnd));
  return scanned;
}

}  // namespace neptune
