#include "neptune/world/storage.h"

#include <algorithm>

#include "neptune/base/disk_room.h"

namespace neptune {
namespace {

constexpr size_t kNameSizeMax = 100;

bool AllowedInName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

Status CheckSizes(const WriteBatch::Operation& operation) {
  const bool is_range = operation.kind == WriteBatch::Operation::Kind::kDeleteRange;
  const size_t value_size_max = is_range ? kStorageKeySizeMax : kStorageValueSizeMax;
  if (operation.key.size() > kStorageKeySizeMax) {
    return InvalidArgument("key has ", operation.key.size(), " bytes, limit ", kStorageKeySizeMax);
  }
  if (operation.value.size() > value_size_max) {
    return InvalidArgument("value has ", operation.value.size(), " bytes, limit ", value_size_max);
  }
  return OkStatus();
}

}  // namespace

void WriteBatch::Put(std::string_view key, std::string_view value) {
  Add(Operation::Kind::kPut, key, value);
}

void WriteBatch::Delete(std::string_view key) { Add(Operation::Kind::kDelete, key, {}); }

void WriteBatch::DeleteRange(std::string_view first, std::string_view end) {
  if (first < end) Add(Operation::Kind::kDeleteRange, first, end);
}

void WriteBatch::Clear() {
  operations_.clear();
  size_ = 0;
}

void WriteBatch::Add(Operation::Kind kind, std::string_view key, std::string_view value) {
  operations_.push_back({kind, std::string(key), std::string(value)});
  size_ += key.size() + value.size();
}

Status WriteBatch::Check() const {
  if (size_ > kWriteBatchSizeMax) {
    return InvalidArgument("batch has ", size_, " bytes, limit ", kWriteBatchSizeMax);
  }
  for (const Operation& operation : operations_) {
    NEPTUNE_RETURN_IF_ERROR(CheckSizes(operation));
  }
  return OkStatus();
}

Status KeyValueStore::Put(std::string_view key, std::string_view value, WriteMode mode) {
  WriteBatch batch;
  batch.Put(key, value);
  return Write(batch, mode);
}

Status CheckStoreName(std::string_view name) {
  if (name.empty() || name.size() > kNameSizeMax || name[0] == '.' ||
      !std::all_of(name.begin(), name.end(), AllowedInName)) {
    return InvalidArgument("bad store name \"", name.substr(0, kNameSizeMax), "\"");
  }
  return OkStatus();
}

StatusOr<DiskSpace> DurableStorage::Space() const { return DiskSpace(); }

}  // namespace neptune
