#include "neptune/replication/agent/restore_spool.h"

#include "neptune/base/byte_order.h"

namespace neptune {
namespace {

std::string KeyOf(Lsn lsn) {
  std::string key;
  ByteWriter(&key).Number(lsn);
  return key;
}

}  // namespace

void RestoreSpool::Close() {
  store_.reset();
  count_ = 0;
}

Status RestoreSpool::Clear() {
  Close();
  return storage_.Destroy(name_);
}

Status RestoreSpool::Append(const std::vector<LogEntry>& entries) {
  if (entries.empty()) return OkStatus();
  if (store_ == nullptr) {
    NEPTUNE_ASSIGN_OR_RETURN(store_, storage_.Open(name_));
  }
  WriteBatch batch;
  for (const LogEntry& entry : entries) batch.Put(KeyOf(entry.lsn), EncodeLogEntry(entry));
  NEPTUNE_RETURN_IF_ERROR(store_->Write(batch, WriteMode::kBuffered));
  if (count_ == 0) first_ = entries.front().lsn;
  count_ += entries.size();
  return OkStatus();
}

StatusOr<std::vector<LogEntry>> RestoreSpool::Take(size_t size_max) {
  std::vector<LogEntry> entries;
  if (count_ == 0) return entries;
  size_t size = 0;
  Status damage;
  const auto visit = [&](std::string_view key, std::string_view value) {
    const Lsn next = first_ + entries.size();
    StatusOr<LogEntry> entry = DecodeLogEntry(value);
    damage = entry.status();
    if (damage.ok() && (key != KeyOf(next) || entry->lsn != next)) {
      damage = DataLoss("log entry ", next, " of a restore is missing");
    }
    if (!damage.ok()) return false;
    size += value.size();
    entries.push_back(*std::move(entry));
    return size < size_max;
  };
  NEPTUNE_RETURN_IF_ERROR(store_->Scan({.first = KeyOf(first_)}, visit));
  NEPTUNE_RETURN_IF_ERROR(damage);
  if (entries.empty()) return DataLoss("log entry ", first_, " of a restore is missing");
  WriteBatch batch;
  batch.DeleteRange(KeyOf(first_), KeyOf(first_ + entries.size()));
  NEPTUNE_RETURN_IF_ERROR(store_->Write(batch, WriteMode::kBuffered));
  first_ += entries.size();
  count_ -= entries.size();
  return entries;
}

}  // namespace neptune
