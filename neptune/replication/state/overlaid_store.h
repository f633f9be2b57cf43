// A store and changes that are not written to it yet, read as one: what a run of writes executes on
// before all of it is written in one batch.
//
//   Add(changes of write 1), Add(changes of write 2), ... ─► batch() ─► the store
//        ▲ write 2 reads what write 1 has changed
//
// Get costs one look-up in memory more than that of the store. A scan merges both.
//
// Threads: thread-compatible. The store must not be written to meanwhile.
// Errors: those of the store; kFailedPrecondition it is written to through this object.
// Limits: IsFull says when the changes should be written: large ones take memory, and each deleted
//   range costs every read a comparison.

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/world/storage.h"

namespace neptune {

class OverlaidStore final : public KeyValueStore {
 public:
  static constexpr size_t kSizeMax = 4u << 20;
  static constexpr size_t kRangeCountMax = 64;

  // `store` must outlive this object.
  explicit OverlaidStore(const KeyValueStore& store) : store_(store) {}

  // Changes what is read; later changes override earlier ones.
  void Add(WriteBatch changes);
  // All changes, in their order.
  const WriteBatch& batch() const { return batch_; }
  bool IsFull() const { return batch_.size() >= kSizeMax || ranges_.size() >= kRangeCountMax; }
  // The value that the changes give to the key; nullopt: none. Valid until the next Add.
  std::optional<std::string_view> Changed(std::string_view key) const;

  StatusOr<std::optional<std::string>> Get(std::string_view key) const override;
  Status Scan(const ScanOptions& options, const Visitor& visitor) const override;
  Status Write(const WriteBatch& batch, WriteMode mode) override;
  Status Sync() override;
  StatusOr<std::unique_ptr<KeyValueView>> OpenView() const override;

 private:
  // The last operation on each key, by its place in the batch; none on keys of ranges that were
  // deleted afterwards.
  using Places = std::map<std::string, size_t, std::less<>>;
  class Cursor;

  void Append(const WriteBatch::Operation& operation);
  // Notes the operation at this place.
  void Index(size_t place);
  // True if the key was deleted with a range.
  bool IsInRange(std::string_view key) const;

  const KeyValueStore& store_;
  WriteBatch batch_;
  Places places_;
  std::vector<std::pair<std::string, std::string>> ranges_;
};

}  // namespace neptune
