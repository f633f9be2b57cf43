#include "neptune/replication/state/lazy_store.h"

#include <utility>

namespace neptune {
namespace {

class EmptyView final : public KeyValueView {
 public:
  Status Scan(const ScanOptions&, const Visitor&) const override { return OkStatus(); }
};

}  // namespace

KeyValueStore* LazyStore::Created() const {
  LeafLock lock(&mutex_);
  return created_.get();
}

StatusOr<std::optional<std::string>> LazyStore::Get(std::string_view key) const {
  const KeyValueStore* const store = Created();
  return store == nullptr ? std::optional<std::string>() : store->Get(key);
}

Status LazyStore::Write(const WriteBatch& batch, WriteMode mode) {
  KeyValueStore* store = Created();
  if (store == nullptr) {
    NEPTUNE_ASSIGN_OR_RETURN(std::unique_ptr<KeyValueStore> opened, storage_.Open(name_));
    store = opened.get();
    LeafLock lock(&mutex_);
    created_ = std::move(opened);
  }
  return store->Write(batch, mode);
}

Status LazyStore::Sync() {
  KeyValueStore* const store = Created();
  return store == nullptr ? OkStatus() : store->Sync();
}

Status LazyStore::Scan(const ScanOptions& options, const Visitor& visitor) const {
  const KeyValueStore* const store = Created();
  return store == nullptr ? OkStatus() : store->Scan(options, visitor);
}

StatusOr<std::unique_ptr<KeyValueView>> LazyStore::OpenView() const {
  const KeyValueStore* const store = Created();
  if (store == nullptr) return std::make_unique<EmptyView>();
  return store->OpenView();
}

}  // namespace neptune
