#include "neptune/replication/agent/log_storer.h"

#include <algorithm>
#include <utility>

namespace neptune {
namespace {

// How long nothing is stored before the log settles.
constexpr Duration kSettleTime = std::chrono::seconds(1);

}  // namespace

void LogStorer::Run() {
  {
    LeafLock lock(&mutex_);
    thread_ = ThreadRef(UserThread::Current());
  }
  while (!stopping_) {
    const bool is_idle = unstored_.empty() && drop_before_ == 0;
    if (is_idle && Idle() == ParkResult::kStopping) return;
    if (!unstored_.empty() && !StoreBatch()) return;
    // After each batch, or a log that is always being written would never become smaller.
    if (drop_before_ != 0 && !DropEntries()) return;
  }
}

ParkResult LogStorer::Idle() {
  const ParkResult result =
      this_thread::Park(is_settled_ ? kNever : this_thread::Now() + kSettleTime);
  if (result != ParkResult::kDeadline) return result;
  is_settled_ = true;
  (void)log_.Settle().ok();  // damage of the last change may then not be noticed
  return result;
}

void LogStorer::Wake() {
  LeafLock lock(&mutex_);
  if (thread_) thread_->Wake();
}

void LogStorer::Push(ProtocolActions&& actions) {
  last_number_ = std::max(last_number_, actions.change_number);
  unstored_.Push(std::move(actions));
  Wake();
}

void LogStorer::DropBefore(Lsn first) {
  drop_before_ = first;
  Wake();
}

bool LogStorer::StoreBatch() {
  const TimePoint began_at = this_thread::Now();
  const UnstoredChanges::Batch& batch = unstored_.Begin();
  const bool has_change = !batch.change->empty();
  const Status stored = has_change ? log_.Store(batch.change) : OkStatus();
  if (!stored.ok()) {
    hooks_.on_failure(Annotate(stored, "storing the log"));
    return false;
  }
  if (has_change) is_settled_ = false;  // not after heartbeats, which only answers wait for
  const UnstoredChanges::Batch done = unstored_.End();
  if (!IsStored(done.number)) {
    stored_number_ = done.number;
    hooks_.on_stored(done.number, this_thread::Now() - began_at);
  }
  for (const OutgoingMessage& message : done.messages) hooks_.send(message);
  if (done.restore_from) hooks_.restore(*done.restore_from);
  return true;
}

bool LogStorer::DropEntries() {
  const Lsn first = std::exchange(drop_before_, 0);
  const Status dropped = log_.DropBefore(first);
  if (!dropped.ok()) {
    hooks_.on_failure(Annotate(dropped, "dropping old log entries"));
    return false;
  }
  hooks_.on_dropped(first);
  return true;
}

}  // namespace neptune
