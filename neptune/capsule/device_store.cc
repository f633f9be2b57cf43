#include "neptune/capsule/device_store.h"

#include <utility>

#include "neptune/capsule/device_call.h"

namespace neptune {
namespace {

class DeviceView final : public KeyValueView {
 public:
  DeviceView(std::unique_ptr<KeyValueView> view, CapsuleStack& stack, std::string_view path,
             VisitOptions options)
      : view_(std::move(view)), stack_(stack), path_(path), options_(std::move(options)) {}

  Status Scan(const ScanOptions& options, const Visitor& visitor) const override {
    return RunOnDevice(
        stack_, path_, [this, &options, &visitor] { return view_->Scan(options, visitor); },
        options_, DeviceWait::kForEnd);
  }

 private:
  const std::unique_ptr<KeyValueView> view_;
  CapsuleStack& stack_;
  const std::string path_;
  const VisitOptions options_;
};

}  // namespace

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

StatusOr<std::unique_ptr<KeyValueView>> DeviceStore::OpenView() const {
  std::unique_ptr<KeyValueView> view;
  const auto open = [&]() -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(view, store_.OpenView());
    return OkStatus();
  };
  NEPTUNE_RETURN_IF_ERROR(RunOnDevice(stack_, path_, open, options_, DeviceWait::kForEnd));
  return std::make_unique<DeviceView>(std::move(view), stack_, path_, options_);
}

}  // namespace neptune
