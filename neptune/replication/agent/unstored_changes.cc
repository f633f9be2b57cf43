#include "neptune/replication/agent/unstored_changes.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace neptune {
namespace {

template <typename Item>
void AppendAll(std::vector<Item>&& from, std::vector<Item>* to) {
  to->insert(to->end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

size_t SizeOf(const LogChange& change) {
  size_t size = 0;
  for (const LogEntry& entry : change.entries) size += entry.payload.size();
  return size;
}

}  // namespace

bool UnstoredChanges::MayJoin(const LogChange& change) const {
  if (batches_.size() <= (is_storing_ ? 1 : 0)) return false;
  const LogChange& last = *batches_.back().change;
  if (change.drop_from != 0 || change.restart || last.restart) return false;
  return last_size_ < kBatchSizeMax;
}

void UnstoredChanges::Push(ProtocolActions&& actions) {
  if (!MayJoin(actions.change)) {
    batches_.emplace_back();
    last_size_ = 0;
  }
  last_size_ += SizeOf(actions.change);
  Batch& last = batches_.back();
  // Actions without a change may have no number.
  last.number = std::max(last.number, actions.change_number);
  if (last.change->empty()) {
    *last.change = std::move(actions.change);
  } else {
    AppendAll(std::move(actions.change.entries), &last.change->entries);
    if (actions.change.promise) last.change->promise = actions.change.promise;
    if (actions.change.committed) last.change->committed = actions.change.committed;
  }
  AppendAll(std::move(actions.after_stored), &last.messages);
  if (actions.restore_from) last.restore_from = actions.restore_from;
}

const UnstoredChanges::Batch& UnstoredChanges::Begin() {
  is_storing_ = true;
  return batches_.front();
}

UnstoredChanges::Batch UnstoredChanges::End() {
  is_storing_ = false;
  Batch stored = std::move(batches_.front());
  batches_.pop_front();
  return stored;
}

const LogChange* UnstoredChanges::Find(Lsn lsn) const {
  for (auto batch = batches_.rbegin(); batch != batches_.rend(); ++batch) {
    const std::vector<LogEntry>& entries = batch->change->entries;
    if (!entries.empty() && lsn >= entries.front().lsn && lsn <= entries.back().lsn) {
      return batch->change.get();
    }
  }
  return nullptr;
}

}  // namespace neptune
