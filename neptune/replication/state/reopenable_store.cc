#include "neptune/replication/state/reopenable_store.h"

#include <utility>

namespace neptune {
namespace {

// Keeps the store open.
class HeldStore final : public KeyValueStore {
 public:
  explicit HeldStore(std::shared_ptr<KeyValueStore> store) : store_(std::move(store)) {}

  StatusOr<std::optional<std::string>> Get(std::string_view key) const override {
    return store_->Get(key);
  }
  Status Write(const WriteBatch& batch, WriteMode mode) override {
    return store_->Write(batch, mode);
  }
  Status Sync() override { return store_->Sync(); }
  Status Scan(const ScanOptions& options, const Visitor& visitor) const override {
    return store_->Scan(options, visitor);
  }
  StatusOr<std::unique_ptr<KeyValueView>> OpenView() const override { return store_->OpenView(); }

 private:
  const std::shared_ptr<KeyValueStore> store_;
};

}  // namespace

std::unique_ptr<KeyValueStore> ReopenableStore::Hold(std::unique_ptr<KeyValueStore> store) {
  std::shared_ptr<KeyValueStore> shared = std::move(store);
  LeafLock lock(&mutex_);
  current_ = shared;
  return std::make_unique<HeldStore>(std::move(shared));
}

StatusOr<std::shared_ptr<KeyValueStore>> ReopenableStore::Current() const {
  LeafLock lock(&mutex_);
  std::shared_ptr<KeyValueStore> store = current_.lock();
  if (store == nullptr) return Unavailable("the partition's data are not open");
  return store;
}

Status ReopenableStore::Noted(const Status& status) const {
  if (status.code() == StatusCode::kDataLoss && on_damage_) on_damage_(status);
  return status;
}

StatusOr<std::optional<std::string>> ReopenableStore::Get(std::string_view key) const {
  NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<KeyValueStore> store, Current());
  StatusOr<std::optional<std::string>> value = store->Get(key);
  if (!value.ok()) return Noted(value.status());
  return value;
}

Status ReopenableStore::Write(const WriteBatch&, WriteMode) {
  return FailedPrecondition("a reader of the partition's data must not write to them");
}

Status ReopenableStore::Sync() {
  return FailedPrecondition("a reader of the partition's data must not write to them");
}

Status ReopenableStore::Scan(const ScanOptions& options, const Visitor& visitor) const {
  NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<KeyValueStore> store, Current());
  return Noted(store->Scan(options, visitor));
}

StatusOr<std::unique_ptr<KeyValueView>> ReopenableStore::OpenView() const {
  NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<KeyValueStore> store, Current());
  return store->OpenView();
}

}  // namespace neptune
