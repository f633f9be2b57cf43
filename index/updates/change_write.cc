#include "index/updates/change_write.h"

#include <utility>

#include "index/updates/document_change.h"

namespace search::index {
namespace {

class StoreWriter final : public ChangeWriter {
 public:
  explicit StoreWriter(neptune::StoreChanges* changes) : changes_(changes) {}
  void Put(std::string_view key, std::string_view value) override { changes_->Put(key, value); }
  void Delete(std::string_view key) override { changes_->Delete(key); }
  void DeleteRange(std::string_view first, std::string_view end) override {
    changes_->DeleteRange(first, end);
  }

 private:
  neptune::StoreChanges* const changes_;
};

}  // namespace

neptune::Status ExecuteChangeWrite(const neptune::WriteContext& context, std::string_view request,
                                   std::string* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const PartitionChange change, ParsePartitionChange(request));
  StoreWriter writer(&context.changes);
  NEPTUNE_ASSIGN_OR_RETURN(const ChangeAnswer answer,
                           ExecuteChange(change, {context.lsn, context.accepted_at},
                                         StoreReader(&context.store), &writer));
  *response = answer.SerializeAsString();
  return neptune::OkStatus();
}

std::optional<PartitionChange> ChangeOfEntry(const neptune::LogEntry& entry) {
  if (entry.method.value() != kChangeMethod) return std::nullopt;
  auto change = ParsePartitionChange(entry.payload);
  if (!change.ok()) return std::nullopt;
  return *std::move(change);
}

}  // namespace search::index
