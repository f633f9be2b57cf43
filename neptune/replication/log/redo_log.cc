#include "neptune/replication/log/redo_log.h"

#include <algorithm>
#include <map>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/replication/log/log_records.h"
#include "neptune/replication/log/sealed_record.h"

namespace neptune {
namespace {

constexpr size_t kMethodSizeMax = 255;
constexpr size_t kLoadPieceSize = 1u << 20;
// Bytes of entries that are stored in one batch; a change of its own may have more.
constexpr size_t kTogetherSizeMax = 32u << 20;

StatusOr<LogEntry> DecodeAt(Lsn lsn, std::string_view bytes) {
  StatusOr<LogEntry> entry = DecodeLogEntry(bytes);
  if (!entry.ok()) return Annotate(entry.status(), StrCat("log entry ", lsn));
  if (entry->lsn != lsn)
    return DataLoss("log entry ", entry->lsn, " found where ", lsn, " was expected");
  return entry;
}

Status CheckEntry(const LogEntry& entry) {
  if (entry.lsn > kLsnMax) return InvalidArgument("log entry ", entry.lsn, " exceeds ", kLsnMax);
  if (entry.payload.size() > kLogPayloadSizeMax) {
    return InvalidArgument("a write of ", entry.payload.size(), " bytes exceeds ",
                           kLogPayloadSizeMax);
  }
  if (entry.method.value().size() > kMethodSizeMax) {
    return InvalidArgument("a method of ", entry.method.value().size(), " bytes exceeds ",
                           kMethodSizeMax);
  }
  return OkStatus();
}

// Bytes that the change's entries have at most.
size_t SizeOf(const LogChange& change) {
  constexpr size_t kOverheadMax = 512;
  size_t size = 0;
  for (const LogEntry& entry : change.entries) size += entry.payload.size() + kOverheadMax;
  return size;
}

}  // namespace

RedoLog::RedoLog(NodeLog::Attached attached, const LogIdentity& identity, size_t cache_size_max)
    : log_(std::move(attached.log)),
      found_(std::move(attached.found)),
      identity_(identity),
      damage_(found_.damage),
      position_(opened_),
      window_(cache_size_max) {}

// Opening.

StatusOr<std::unique_ptr<RedoLog>> RedoLog::Open(NodeLog& node_log, std::string_view name,
                                                 const LogIdentity& identity,
                                                 size_t cache_size_max) {
  NEPTUNE_ASSIGN_OR_RETURN(NodeLog::Attached attached, node_log.Attach(name));
  std::unique_ptr<RedoLog> log(new RedoLog(std::move(attached), identity, cache_size_max));
  if (!log->found_.identity.empty()) {
    NEPTUNE_RETURN_IF_ERROR(Annotate(log->TakeOver(), "open the log"));
  }
  if (!log->damage_.ok()) return log;
  if (log->found_.is_new) return log;
  const Status loaded = Annotate(log->Load(), StrCat("open the log of ", NameOf(identity)));
  if (loaded.ok()) return log;
  log->damage_ = DataLoss(ToStd(loaded.message()));
  log->opened_ = {};
  return log;
}

// The members may be others than before, and the partition count may have been unknown.
Status RedoLog::TakeOver() {
  const StatusOr<LogIdentity> stored = DecodeLogIdentity(found_.identity);
  if (stored.status().code() == StatusCode::kDataLoss) {
    if (damage_.ok()) damage_ = stored.status();
    return OkStatus();
  }
  NEPTUNE_RETURN_IF_ERROR(stored.status());
  NEPTUNE_RETURN_IF_ERROR(CheckLogIdentity(*stored, identity_));
  if (identity_.partition_count == 0) identity_.partition_count = stored->partition_count;
  return OkStatus();
}

Status RedoLog::Load() {
  NEPTUNE_ASSIGN_OR_RETURN(opened_, DecodeLogState(found_.state));
  promise_ = opened_.promise;
  committed_ = opened_.committed;
  const Lsn last = std::exchange(opened_.last_lsn, opened_.base.lsn);
  if (opened_.first_lsn != found_.first_lsn || last != found_.last_lsn) {
    return DataLoss("the log has entries ", found_.first_lsn, " to ", found_.last_lsn,
                    ", but its state says ", opened_.first_lsn, " to ", last);
  }
  position_ = LogPosition(opened_);
  NEPTUNE_RETURN_IF_ERROR(LoadEntries(last));
  opened_.last_lsn = last;
  is_identity_stored_ = EncodeLogIdentity(identity_) == found_.identity;
  return is_identity_stored_ ? OkStatus() : Commit(StateNow());
}

// No other thread knows the log yet.
Status RedoLog::LoadEntries(Lsn last) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  window_.Restart(opened_.first_lsn);
  while (window_.last_lsn() < last) {
    const Lsn first = window_.last_lsn() + 1;
    NEPTUNE_ASSIGN_OR_RETURN(const std::vector<std::string> records,
                             log_->Read(found_.partition, first, last, kLoadPieceSize));
    if (records.empty()) return DataLoss("log entry ", first, " (last is ", last, ") is missing");
    for (const std::string& bytes : records) {
      const Lsn lsn = window_.last_lsn() + 1;
      NEPTUNE_ASSIGN_OR_RETURN(LogEntry entry, DecodeAt(lsn, bytes));
      position_.Append(entry);
      if (opened_.epochs.empty() || opened_.epochs.back().epoch != entry.epoch) {
        opened_.epochs.push_back({lsn, entry.epoch});
      }
      if (entry.kind == EntryKind::kWriteSet) opened_.write_sets.push_back({lsn, entry.write_set});
      window_.Append(std::move(entry), bytes.size());
    }
  }
  return OkStatus();
}

Status RedoLog::Forget() {
  const StatusOr<LogOutline> known = DecodeLogState(found_.state);
  const Epoch epoch = std::max(known.ok() ? known->promise.epoch : 0, promise_.epoch);
  opened_ = {};
  if (identity_.is_ordered) opened_.promise.epoch = std::max<Epoch>(epoch, 1);
  promise_ = opened_.promise;
  committed_ = 0;
  position_ = LogPosition(opened_);
  {
    LeafLock lock(&mutex_);
    window_.Restart(1);
  }
  damage_ = OkStatus();
  is_identity_stored_ = false;
  PartitionChange change = StateNow();
  change.is_restart = true;
  return Commit(std::move(change));
}

// Changing.

PartitionChange RedoLog::StateNow() const {
  LogOutline outline;
  outline.promise = promise_;
  outline.committed = committed_;
  outline.base = position_.base();
  outline.base_write_set = position_.WriteSetAt(position_.base().lsn);
  outline.last_lsn = position_.last_lsn();
  PartitionChange change;
  change.partition = found_.partition;
  change.first_lsn = position_.first_lsn();
  change.last_lsn = position_.last_lsn();
  if (!is_identity_stored_) change.identity = EncodeLogIdentity(identity_);
  change.state = EncodeLogState(outline);
  return change;
}

Status RedoLog::Commit(PartitionChange change) {
  broken_ = log_->Commit({std::move(change)});
  is_identity_stored_ = is_identity_stored_ || broken_.ok();
  return broken_;
}

Status RedoLog::CheckUsable() const {
  NEPTUNE_RETURN_IF_ERROR(damage_);
  if (broken_.ok()) return OkStatus();
  return Unavailable("the log must be opened again after: ", ToStd(broken_.message()));
}

Status RedoLog::Check(const LogChange& change) const {
  Lsn next = position_.last_lsn() + 1;
  if (change.restart) {
    if (change.restart->base.lsn > kLsnMax)
      return InvalidArgument("a log cannot begin after entry ", change.restart->base.lsn);
    next = change.restart->base.lsn + 1;
  } else if (change.drop_from != 0) {
    const Lsn first_droppable = std::max(position_.first_lsn(), committed_ + 1);
    if (change.drop_from < first_droppable || change.drop_from > next) {
      return InvalidArgument("log entries from ", change.drop_from, " on cannot be dropped: only ",
                             first_droppable, " to ", next - 1, " can");
    }
    next = change.drop_from;
  }
  for (const LogEntry& entry : change.entries) {
    if (entry.lsn != next)
      return InvalidArgument("log entry ", entry.lsn, " given where ", next, " was expected");
    NEPTUNE_RETURN_IF_ERROR(CheckEntry(entry));
    ++next;
  }
  if (SizeOf(change) > kLogBatchSizeMax / 2) {
    return InvalidArgument("a change of more than ", kLogBatchSizeMax / 2, " bytes");
  }
  const Lsn first = change.restart ? change.restart->base.lsn + 1 : position_.first_lsn();
  if (next - first <= kLogEntryCountMax) return OkStatus();
  return ResourceExhausted("a log of more than ", kLogEntryCountMax, " entries");
}

// Runs before the change is written, so that a read that misses an entry there finds that it was
// dropped.
void RedoLog::DropInMemory(const LogChange& change) {
  LeafLock lock(&mutex_);
  if (change.restart) {
    position_.Restart(change.restart->base, change.restart->write_set);
    window_.Restart(change.restart->base.lsn + 1);
    committed_ = change.restart->base.lsn;
  } else if (change.drop_from != 0) {
    position_.DropFrom(change.drop_from);
    window_.DropFrom(change.drop_from);
  }
}

PartitionChange RedoLog::Prepare(const LogChange& change) {
  DropInMemory(change);
  if (change.promise) promise_ = *change.promise;
  if (change.committed) committed_ = *change.committed;
  for (const LogEntry& entry : change.entries) position_.Append(entry);
  PartitionChange made = StateNow();
  made.is_restart = change.restart.has_value();
  made.drop_from = change.restart ? 0 : change.drop_from;
  if (!change.entries.empty()) made.entries_lsn = change.entries.front().lsn;
  for (const LogEntry& entry : change.entries) made.entries.push_back(EncodeLogEntry(entry));
  return made;
}

void RedoLog::Finish(const LogChange& change, const PartitionChange& written,
                     const Status& result) {
  broken_ = result;
  if (!result.ok()) return;
  is_identity_stored_ = true;
  LeafLock lock(&mutex_);
  for (size_t i = 0; i < change.entries.size(); ++i) {
    window_.Append(change.entries[i], written.entries[i].size());
  }
}

Status RedoLog::Store(const LogChange& change) {
  std::vector<Request> requests = {{this, &change, OkStatus()}};
  StoreTogether(requests);
  return requests[0].result;
}

void RedoLog::StoreTogether(std::vector<Request>& requests) {
  for (auto next = requests.begin(); next != requests.end();) {
    const std::shared_ptr<SharedLog> log = next->log->log_;
    std::vector<Request*> together;
    std::vector<PartitionChange> changes;
    // Logs that were opened before and after an error are not written together.
    for (size_t size = 0; next != requests.end() && next->log->log_ == log; ++next) {
      size += SizeOf(*next->change);
      if (size > kTogetherSizeMax && !changes.empty()) break;
      next->result = next->log->CheckUsable();
      if (next->result.ok()) next->result = next->log->Check(*next->change);
      if (!next->result.ok()) continue;
      changes.push_back(next->log->Prepare(*next->change));
      together.push_back(&*next);
    }
    const Status committed = changes.empty() ? OkStatus() : log->Commit(changes);
    for (size_t i = 0; i < together.size(); ++i) {
      together[i]->result = committed;
      together[i]->log->Finish(*together[i]->change, changes[i], committed);
    }
  }
}

Status RedoLog::DropBefore(Lsn first) {
  NEPTUNE_RETURN_IF_ERROR(CheckUsable());
  first = std::min(first, position_.last_lsn() + 1);
  if (first <= position_.first_lsn()) return OkStatus();
  position_.DropBefore(first);
  {
    LeafLock lock(&mutex_);
    window_.DropBefore(first);
  }
  return Commit(StateNow());
}

// Reading.

StatusOr<std::vector<LogEntry>> RedoLog::Read(Lsn first, Lsn last, size_t size_max) const {
  NEPTUNE_RETURN_IF_ERROR(damage_);
  {
    LeafLock lock(&mutex_);
    if (!window_.Holds(first)) {
      return NotFound("log entry ", first, " is not among ", window_.first_lsn(), " to ",
                      window_.last_lsn());
    }
    std::optional<std::vector<LogEntry>> entries = window_.Read(first, last, size_max);
    if (entries) return *std::move(entries);
    last = std::min(last, window_.last_lsn());
  }
  StatusOr<std::vector<LogEntry>> entries = ReadStored(first, last, size_max);
  if (!entries.ok() || !entries->empty() || last < first) return entries;
  LeafLock lock(&mutex_);
  return window_.Holds(first) ? DataLoss("log entry ", first, " is missing")
                              : NotFound("log entry ", first, " was just dropped");
}

// Returns no entries if the first is missing, and at least one otherwise.
StatusOr<std::vector<LogEntry>> RedoLog::ReadStored(Lsn first, Lsn last, size_t size_max) const {
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<std::string> records,
                           log_->Read(found_.partition, first, last, size_max));
  std::vector<LogEntry> entries;
  for (const std::string& bytes : records) {
    StatusOr<LogEntry> entry = DecodeAt(first + entries.size(), bytes);
    if (!entry.ok()) {
      const Lsn lsn = first + entries.size();
      if (!Unsealed(bytes, "the entry").ok()) {
        (void)log_->CheckEntry(found_.partition, lsn);
      } else {  // it was never right
        log_->NoteDamage(found_.partition, std::string(ToStd(entry.status().message())));
      }
      return entry.status();
    }
    entries.push_back(*std::move(entry));
  }
  return entries;
}

Lsn RedoLog::first_lsn() const {
  LeafLock lock(&mutex_);
  return window_.first_lsn();
}

Lsn RedoLog::last_lsn() const {
  LeafLock lock(&mutex_);
  return window_.last_lsn();
}

size_t RedoLog::size() const {
  LeafLock lock(&mutex_);
  return window_.size();
}

}  // namespace neptune
