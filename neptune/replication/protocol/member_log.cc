#include "neptune/replication/protocol/member_log.h"

#include <utility>

namespace neptune {

MemberLog::MemberLog(const LogOutline& found)
    : LogPosition(found),
      committed_(std::clamp(found.committed, found.base.lsn, found.last_lsn)),
      stored_(found.last_lsn) {}

void MemberLog::Append(LogEntry entry) {
  LogPosition::Append(entry);
  change_.entries.push_back(std::move(entry));
}

void MemberLog::AppendWriteSet(MemberSet members, Epoch epoch) {
  LogEntry entry;
  entry.lsn = last_lsn() + 1;
  entry.epoch = epoch;
  entry.kind = EntryKind::kWriteSet;
  entry.write_set = members;
  Append(std::move(entry));
}

bool MemberLog::Covers(const EpochStart& entry) const {
  if (entry.lsn > last_lsn()) return false;
  return entry.lsn < base().lsn || EpochAt(entry.lsn) == entry.epoch;
}

void MemberLog::DropFrom(Lsn lsn) {
  if (!change_.entries.empty() && lsn >= change_.entries.front().lsn) {
    change_.entries.resize(lsn - change_.entries.front().lsn);
  } else {
    change_.entries.clear();
    change_.drop_from = change_.drop_from == 0 ? lsn : std::min(change_.drop_from, lsn);
  }
  LogPosition::DropFrom(lsn);
  stored_ = std::min(stored_, lsn - 1);
  for (PendingChange& pending : pending_) pending.last_lsn = std::min(pending.last_lsn, lsn - 1);
}

std::optional<SnapshotMark> MemberLog::MarkOf(Lsn lsn) const {
  const std::optional<Epoch> epoch = EpochAt(lsn);
  if (!epoch) return std::nullopt;
  return SnapshotMark{.base = {lsn, *epoch}, .write_set = WriteSetAt(lsn), .log = std::nullopt};
}

std::optional<MemberLog::Match> MemberLog::Take(ReplicaMessage& append) {
  if (append.prev_lsn > last_lsn()) return Match{false, last_lsn()};
  if (append.prev_lsn >= base().lsn && EpochAt(append.prev_lsn) != append.prev_epoch) {
    return Match{false, std::max(committed_, EpochBegin(append.prev_lsn) - 1)};
  }
  const Lsn matched = std::max(append.prev_lsn + append.entries.size(), base().lsn);
  if (!AdoptEntries(append)) return std::nullopt;
  Learn(append, matched);
  return Match{true, matched};
}

bool MemberLog::AdoptEntries(ReplicaMessage& append) {
  Lsn lsn = append.prev_lsn;
  for (const LogEntry& entry : append.entries) {
    if (entry.lsn != ++lsn || entry.epoch > append.epoch) return false;
  }
  for (LogEntry& entry : append.entries) {
    if (entry.lsn <= base().lsn) continue;
    if (entry.lsn <= last_lsn()) {
      if (EpochAt(entry.lsn) == entry.epoch) continue;
      if (entry.lsn <= committed_) return false;
      DropFrom(entry.lsn);
    }
    Append(std::move(entry));
  }
  return true;
}

void MemberLog::Learn(const ReplicaMessage& append, Lsn matched) {
  Commit(std::min(append.committed, matched));
  // A sender without a lease, or a new primary, may not know everything that is committed.
  if (!append.yes || append.member_stamp == 0 || append.committed > matched) return;
  const TimePoint as_of = TimeOf(append.member_stamp);
  if (!freshness_ || freshness_->as_of < as_of) freshness_ = {append.committed, as_of};
}

void MemberLog::Restart(const EpochStart& base, MemberSet write_set) {
  change_.drop_from = 0;
  change_.entries.clear();
  change_.restart = LogChange::Restart{base, write_set};
  LogPosition::Restart(base, write_set);
  committed_ = base.lsn;
  stored_ = 0;
  for (PendingChange& pending : pending_) pending.last_lsn = 0;
}

MemberLog::NumberedChange MemberLog::NextChange() {
  LogChange taken = std::exchange(change_, {});
  if (!taken.empty()) pending_.push_back({++change_number_, last_lsn()});
  if (taken.promise) promise_number_ = change_number_;
  return {change_number_, std::move(taken)};
}

void MemberLog::Stored(uint64_t number) {
  if (number >= promise_number_) promise_number_ = 0;
  while (!pending_.empty() && pending_.front().number <= number) {
    stored_ = std::max(stored_, pending_.front().last_lsn);
    pending_.pop_front();
  }
}

}  // namespace neptune
