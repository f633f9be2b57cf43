#include "neptune/replication/state/overlaid_store.h"

#include <algorithm>

namespace neptune {

// The changed keys within the bounds of a scan, in its direction.
class OverlaidStore::Cursor {
 public:
  Cursor(const OverlaidStore& overlay, const ScanOptions& options)
      : operations_(overlay.batch_.operations()),
        backward_(options.backward),
        begin_(overlay.places_.lower_bound(options.first)),
        end_(options.end ? overlay.places_.lower_bound(*options.end) : overlay.places_.end()) {}

  bool done() const { return begin_ == end_; }
  // REQUIRES: !done().
  const std::string& key() const { return Here()->first; }
  // True if the scan meets this key before the other one.
  bool IsBefore(std::string_view other) const { return backward_ ? key() > other : key() < other; }
  // Visits the key, unless it is deleted, and goes on to the next one.
  bool Visit(const Visitor& visitor) {
    const WriteBatch::Operation& last = operations_[Here()->second];
    if (backward_) {
      --end_;
    } else {
      ++begin_;
    }
    return last.kind == WriteBatch::Operation::Kind::kDelete || visitor(last.key, last.value);
  }

 private:
  Places::const_iterator Here() const { return backward_ ? std::prev(end_) : begin_; }

  const std::vector<WriteBatch::Operation>& operations_;
  const bool backward_;
  Places::const_iterator begin_;
  Places::const_iterator end_;
};

void OverlaidStore::Add(WriteBatch changes) {
  const size_t first = batch_.operations().size();
  if (first == 0) {
    batch_ = std::move(changes);
  } else {
    for (const WriteBatch::Operation& operation : changes.operations()) Append(operation);
  }
  for (size_t place = first; place < batch_.operations().size(); ++place) Index(place);
}

void OverlaidStore::Append(const WriteBatch::Operation& operation) {
  switch (operation.kind) {
    case WriteBatch::Operation::Kind::kPut:
      batch_.Put(operation.key, operation.value);
      break;
    case WriteBatch::Operation::Kind::kDelete:
      batch_.Delete(operation.key);
      break;
    case WriteBatch::Operation::Kind::kDeleteRange:
      batch_.DeleteRange(operation.key, operation.value);
      break;
  }
}

void OverlaidStore::Index(size_t place) {
  const WriteBatch::Operation& operation = batch_.operations()[place];
  if (operation.kind != WriteBatch::Operation::Kind::kDeleteRange) {
    places_.insert_or_assign(operation.key, place);
    return;
  }
  places_.erase(places_.lower_bound(operation.key), places_.lower_bound(operation.value));
  ranges_.emplace_back(operation.key, operation.value);
}

bool OverlaidStore::IsInRange(std::string_view key) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [key](const auto& range) { return key >= range.first && key < range.second; });
}

std::optional<std::string_view> OverlaidStore::Changed(std::string_view key) const {
  const auto found = places_.find(key);
  if (found == places_.end()) return std::nullopt;
  const WriteBatch::Operation& last = batch_.operations()[found->second];
  if (last.kind == WriteBatch::Operation::Kind::kDelete) return std::nullopt;
  return last.value;
}

StatusOr<std::optional<std::string>> OverlaidStore::Get(std::string_view key) const {
  const auto found = places_.find(key);
  if (found == places_.end() && !IsInRange(key)) return store_.Get(key);
  std::optional<std::string> value;
  if (found == places_.end()) return value;
  const WriteBatch::Operation& last = batch_.operations()[found->second];
  if (last.kind == WriteBatch::Operation::Kind::kPut) value = last.value;
  return value;
}

Status OverlaidStore::Scan(const ScanOptions& options, const Visitor& visitor) const {
  if (options.end && *options.end <= options.first) return OkStatus();
  Cursor changed(*this, options);
  bool goes_on = true;
  const auto visit = [&](std::string_view key, std::string_view value) {
    while (goes_on && !changed.done() && changed.IsBefore(key)) goes_on = changed.Visit(visitor);
    if (!goes_on) return false;
    if (!changed.done() && changed.key() == key) {
      goes_on = changed.Visit(visitor);
    } else if (!IsInRange(key)) {
      goes_on = visitor(key, value);
    }
    return goes_on;
  };
  NEPTUNE_RETURN_IF_ERROR(store_.Scan(options, visit));
  while (goes_on && !changed.done()) goes_on = changed.Visit(visitor);
  return OkStatus();
}

Status OverlaidStore::Write(const WriteBatch&, WriteMode) {
  return FailedPrecondition("changes of a run of writes are added, not written");
}

Status OverlaidStore::Sync() {
  return FailedPrecondition("changes of a run of writes are not written yet");
}

StatusOr<std::unique_ptr<KeyValueView>> OverlaidStore::OpenView() const {
  return FailedPrecondition("changes of a run of writes are not written yet");
}

}  // namespace neptune
