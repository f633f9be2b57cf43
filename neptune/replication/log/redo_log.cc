#include "neptune/replication/log/redo_log.h"

#include <algorithm>
#include <utility>

#include "neptune/base/byte_order.h"
#include "neptune/base/strings.h"
#include "neptune/replication/log/sealed_record.h"

namespace neptune {
namespace {

constexpr uint8_t kLogVersion = 3;
constexpr uint8_t kLogVersionWithoutCount = 2;  // assumes the expected partition count
constexpr uint8_t kNobody = 0xff;
constexpr std::string_view kIdentityKey = "i";
constexpr std::string_view kStateKey = "s";
constexpr char kEntryPrefix = 'e';
constexpr std::string_view kEntriesEnd = "f";
constexpr size_t kMethodSizeMax = 255;

std::string KeyOf(Lsn lsn) {
  std::string key(1, kEntryPrefix);
  ByteWriter(&key).Number(lsn);
  return key;
}

std::string EncodeIdentity(const LogIdentity& identity) {
  std::string body;
  ByteWriter out(&body);
  out.Number(kLogVersion);
  out.Counted<uint16_t>(identity.cluster);
  out.Counted<uint16_t>(identity.service.value());
  out.Number(identity.partition.value());
  out.Counted<uint16_t>(identity.node.value());
  out.Number(static_cast<uint8_t>(identity.is_ordered));
  out.Number(identity.partition_count);
  for (const NodeId& member : identity.members) out.Counted<uint16_t>(member.value());
  return Sealed(body);
}

std::string NameOf(const LogIdentity& identity) {
  return StrCat("partition ", identity.partition, " of ", identity.service, " in cluster ",
                identity.cluster, " on node ", identity.node,
                identity.is_ordered ? ", of ordered writes" : ", of level write_anywhere");
}

std::string NamesOf(const std::vector<NodeId>& nodes) {
  std::string names;
  for (const NodeId& node : nodes) StrAppend(&names, names.empty() ? "" : " ", node);
  return names;
}

StatusOr<LogIdentity> DecodeIdentity(std::string_view bytes) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string_view body, Unsealed(bytes, "the log's identity"));
  ByteReader in(body);
  const uint8_t version = in.Number<uint8_t>();
  if (version != kLogVersion && version != kLogVersionWithoutCount) {
    return FailedPrecondition("log has version ", int{version}, ", expected ",
                              int{kLogVersionWithoutCount}, " or ", int{kLogVersion});
  }
  LogIdentity identity;
  identity.cluster = in.Counted<uint16_t>();
  identity.service = ServiceName(std::string(in.Counted<uint16_t>()));
  identity.partition = PartitionId(in.Number<uint32_t>());
  identity.node = NodeId(std::string(in.Counted<uint16_t>()));
  const uint8_t is_ordered = in.Number<uint8_t>();
  identity.is_ordered = is_ordered != 0;
  if (version != kLogVersionWithoutCount) identity.partition_count = in.Number<uint32_t>();
  while (!in.failed() && in.remaining() > 0) {
    identity.members.emplace_back(std::string(in.Counted<uint16_t>()));
  }
  if (!in.finished() || is_ordered > 1) return DataLoss("the log's identity is damaged");
  return identity;
}

// Reads the outline, without what follows from the entries.
StatusOr<LogOutline> DecodeState(std::string_view bytes) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string_view body, Unsealed(bytes, "the log's state"));
  ByteReader in(body);
  LogOutline outline;
  outline.promise.is_founded = in.Number<uint8_t>() != 0;
  outline.promise.epoch = in.Number<uint64_t>();
  const uint8_t voted_for = in.Number<uint8_t>();
  if (voted_for != kNobody) outline.promise.voted_for = voted_for;
  outline.committed = in.Number<uint64_t>();
  outline.base.lsn = in.Number<uint64_t>();
  outline.base.epoch = in.Number<uint64_t>();
  outline.base_write_set = MemberSet(in.Number<uint16_t>());
  outline.last_lsn = in.Number<uint64_t>();
  outline.first_lsn = outline.base.lsn + 1;
  const bool sound = in.finished() && outline.last_lsn >= outline.base.lsn;
  if (!sound) return DataLoss("the log's state is damaged");
  return outline;
}

bool IsSame(const LogIdentity& a, const LogIdentity& b) {
  return a.cluster == b.cluster && a.service == b.service && a.partition == b.partition &&
         a.node == b.node && a.is_ordered == b.is_ordered;
}

// True if every node that was a member before and still is has kept its position.
bool HaveTheirPlaces(const std::vector<NodeId>& before, const std::vector<NodeId>& now) {
  if (before.size() != now.size()) return false;
  for (size_t i = 0; i < before.size(); ++i) {
    const auto place = std::find(now.begin(), now.end(), before[i]);
    if (place != now.end() && place != now.begin() + static_cast<ptrdiff_t>(i)) return false;
  }
  return true;
}

Status CheckIdentity(const LogIdentity& found, const LogIdentity& expected) {
  if (!IsSame(found, expected)) {
    return FailedPrecondition("the log belongs to ", NameOf(found), ", not to ", NameOf(expected));
  }
  const bool is_known = found.partition_count != 0 && expected.partition_count != 0;
  if (is_known && found.partition_count != expected.partition_count) {
    return FailedPrecondition("the data of ", found.service, " are in ", found.partition_count,
                              " partitions, but the spec has ", expected.partition_count,
                              ": another count would put keys into other partitions, so it must "
                              "not change");
  }
  if (HaveTheirPlaces(found.members, expected.members)) return OkStatus();
  return FailedPrecondition("its members were ", NamesOf(found.members), ", but the spec has ",
                            NamesOf(expected.members),
                            ": at an ordered level a node may take another's place, but none may "
                            "be added, removed or moved");
}

StatusOr<LogEntry> DecodeAt(Lsn lsn, std::string_view bytes) {
  StatusOr<LogEntry> entry = DecodeLogEntry(bytes);
  if (!entry.ok()) return Annotate(entry.status(), StrCat("log entry ", lsn));
  if (entry->lsn != lsn)
    return DataLoss("log entry ", entry->lsn, " found where ", lsn, " was expected");
  return entry;
}

Status CheckSizes(const LogEntry& entry) {
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

}  // namespace

RedoLog::RedoLog(KeyValueStore& store, size_t cache_size_max)
    : store_(store), position_(opened_), window_(cache_size_max) {}

StatusOr<std::unique_ptr<RedoLog>> RedoLog::Open(KeyValueStore& store, const LogIdentity& identity,
                                                 size_t cache_size_max) {
  std::unique_ptr<RedoLog> log(new RedoLog(store, cache_size_max));
  NEPTUNE_ASSIGN_OR_RETURN(const std::optional<std::string> found, store.Get(kIdentityKey));
  const Status status = found ? log->TakeOver(*found, identity) : log->Found(identity);
  NEPTUNE_RETURN_IF_ERROR(Annotate(status, "open the log"));
  NEPTUNE_RETURN_IF_ERROR(Annotate(log->Load(), StrCat("open the log of ", NameOf(identity))));
  return log;
}

Status RedoLog::Found(const LogIdentity& identity) {
  bool is_empty = true;
  NEPTUNE_RETURN_IF_ERROR(store_.Scan({}, [&](auto, auto) { return is_empty = false; }));
  if (!is_empty) return DataLoss("the store is not empty but contains no log identity");
  WriteBatch batch;
  batch.Put(kIdentityKey, EncodeIdentity(identity));
  batch.Put(kStateKey, EncodeState());
  return store_.Write(batch, WriteMode::kSynced);
}

Status RedoLog::TakeOver(std::string_view found, const LogIdentity& identity) {
  NEPTUNE_ASSIGN_OR_RETURN(const LogIdentity stored, DecodeIdentity(found));
  NEPTUNE_RETURN_IF_ERROR(CheckIdentity(stored, identity));
  LogIdentity known = identity;
  if (known.partition_count == 0) known.partition_count = stored.partition_count;
  const bool is_same =
      stored.members == known.members && stored.partition_count == known.partition_count;
  if (is_same) return OkStatus();
  return store_.Put(kIdentityKey, EncodeIdentity(known), WriteMode::kSynced);
}

Status RedoLog::Load() {
  NEPTUNE_ASSIGN_OR_RETURN(const std::optional<std::string> state, store_.Get(kStateKey));
  if (!state) return DataLoss("the log's state is missing");
  NEPTUNE_ASSIGN_OR_RETURN(opened_, DecodeState(*state));
  promise_ = opened_.promise;
  committed_ = opened_.committed;
  const Lsn last = std::exchange(opened_.last_lsn, opened_.base.lsn);
  position_ = LogPosition(opened_);
  NEPTUNE_RETURN_IF_ERROR(LoadEntries(last));
  opened_.last_lsn = last;
  return OkStatus();
}

// Expects the keys in LSN order, which detects missing and misplaced entries.
Status RedoLog::LoadEntries(Lsn last) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  window_.Restart(opened_.first_lsn);
  Status damage;
  const auto visit = [&](std::string_view key,
                         std::string_view value) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (key == kIdentityKey || key == kStateKey) return true;
    const Lsn next = window_.last_lsn() + 1;
    if (next > last || key != KeyOf(next)) {
      damage = next > last ? DataLoss("data after log entry ", last)
                           : DataLoss("log entry ", next, " (last is ", last, ") is missing");
      return false;
    }
    StatusOr<LogEntry> entry = DecodeAt(next, value);
    damage = entry.status();
    if (!entry.ok()) return false;
    position_.Append(*entry);
    if (opened_.epochs.empty() || opened_.epochs.back().epoch != entry->epoch) {
      opened_.epochs.push_back({next, entry->epoch});
    }
    if (entry->kind == EntryKind::kWriteSet) {
      opened_.write_sets.push_back({next, entry->write_set});
    }
    window_.Append(*std::move(entry), value.size());
    return true;
  };
  NEPTUNE_RETURN_IF_ERROR(store_.Scan({}, visit));
  NEPTUNE_RETURN_IF_ERROR(damage);
  if (window_.last_lsn() == last) return OkStatus();
  return DataLoss("log entry ", window_.last_lsn() + 1, " (last is ", last, ") is missing");
}

std::string RedoLog::EncodeState() const {
  std::string body;
  ByteWriter out(&body);
  out.Number(static_cast<uint8_t>(promise_.is_founded));
  out.Number(promise_.epoch);
  out.Number(promise_.voted_for.value_or(kNobody));
  out.Number(committed_);
  out.Number(position_.base().lsn);
  out.Number(position_.base().epoch);
  out.Number(position_.WriteSetAt(position_.base().lsn).bits());
  out.Number(position_.last_lsn());
  return Sealed(body);
}

Status RedoLog::CheckUsable() const {
  if (broken_.ok()) return OkStatus();
  return FailedPrecondition("the log must be reopened after: ", ToStd(broken_.message()));
}

Status RedoLog::Check(const LogChange& change) const {
  Lsn next = position_.last_lsn() + 1;
  if (change.restart) {
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
    NEPTUNE_RETURN_IF_ERROR(CheckSizes(entry));
    ++next;
  }
  return OkStatus();
}

// Runs before the change of the store, so that a read that misses an entry there finds that it was
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

Status RedoLog::Store(const LogChange& change) {
  NEPTUNE_RETURN_IF_ERROR(CheckUsable());
  NEPTUNE_RETURN_IF_ERROR(Check(change));
  WriteBatch batch;
  if (change.restart) {
    batch.DeleteRange(std::string_view(&kEntryPrefix, 1), kEntriesEnd);
  } else if (change.drop_from != 0 && change.drop_from <= position_.last_lsn()) {
    batch.DeleteRange(KeyOf(change.drop_from), kEntriesEnd);
  }
  std::vector<size_t> sizes;
  for (const LogEntry& entry : change.entries) {
    const std::string bytes = EncodeLogEntry(entry);
    sizes.push_back(bytes.size());
    batch.Put(KeyOf(entry.lsn), bytes);
  }
  NEPTUNE_RETURN_IF_ERROR(batch.Check());

  DropInMemory(change);
  if (change.promise) promise_ = *change.promise;
  if (change.committed) committed_ = *change.committed;
  for (const LogEntry& entry : change.entries) position_.Append(entry);
  batch.Put(kStateKey, EncodeState());
  NEPTUNE_RETURN_IF_ERROR(Write(batch, WriteMode::kSynced));

  LeafLock lock(&mutex_);
  for (size_t i = 0; i < sizes.size(); ++i) window_.Append(change.entries[i], sizes[i]);
  return OkStatus();
}

Status RedoLog::DropBefore(Lsn first) {
  NEPTUNE_RETURN_IF_ERROR(CheckUsable());
  const Lsn old_first = position_.first_lsn();
  first = std::min(first, position_.last_lsn() + 1);
  if (first <= old_first) return OkStatus();
  position_.DropBefore(first);
  {
    LeafLock lock(&mutex_);
    window_.DropBefore(first);
  }
  WriteBatch batch;
  batch.DeleteRange(KeyOf(old_first), KeyOf(first));
  batch.Put(kStateKey, EncodeState());
  return Write(batch, WriteMode::kBuffered);
}

Status RedoLog::Write(const WriteBatch& batch, WriteMode mode) {
  broken_ = Annotate(store_.Write(batch, mode), "write the log");
  return broken_;
}

StatusOr<std::vector<LogEntry>> RedoLog::Read(Lsn first, Lsn last, size_t size_max) const {
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
  std::vector<LogEntry> entries;
  size_t size = 0;
  Status damage;
  const auto visit = [&](std::string_view key, std::string_view value) {
    const Lsn next = first + entries.size();
    if (key != KeyOf(next)) return false;
    size += value.size();
    if (size > size_max && !entries.empty()) return false;
    StatusOr<LogEntry> entry = DecodeAt(next, value);
    damage = entry.status();
    if (entry.ok()) entries.push_back(*std::move(entry));
    return damage.ok();
  };
  NEPTUNE_RETURN_IF_ERROR(store_.Scan({.first = KeyOf(first), .end = KeyOf(last + 1)}, visit));
  NEPTUNE_RETURN_IF_ERROR(damage);
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
