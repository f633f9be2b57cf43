#include "neptune/replication/log/log_partition.h"

#include <algorithm>

#include "neptune/base/strings.h"

namespace neptune {

bool IsPossible(const LogRecord& record) {
  return record.first_lsn > 0 && record.last_lsn <= kLsnMax &&
         record.last_lsn + 1 >= record.first_lsn &&
         record.last_lsn + 1 - record.first_lsn <= kLogEntryCountMax;
}

void LogPartition::Apply(const LogRecord& record, uint64_t batch,
                         const std::vector<LogPlace>& places) {
  const bool has_lost_some = record.previous != last_batch_ && last_batch_ != 0;
  if (has_lost_some) {
    places_.Forget();
    is_state_lost_ = true;
  }
  is_unsure_ = false;
  last_batch_ = batch;
  if (!record.name.empty()) name_ = record.name;
  if (!record.identity.empty()) identity_ = record.identity;
  if (!record.state.empty()) {
    state_ = record.state;
    is_state_lost_ = false;
  }
  // A summary has all that was known.
  if (record.kind == LogRecordKind::kSummary && !record.is_damaged) damage_ = OkStatus();
  if (record.is_restart) {
    places_.Restart(record.first_lsn);
    damage_ = OkStatus();
    last_lost_ = 0;
  } else if (record.drop_from != 0) {
    places_.DropFrom(record.drop_from);
    last_lost_ = std::min(last_lost_, record.drop_from - 1);
  }
  if (record.is_damaged) NoteDamage("it was found damaged before");
  places_.Resize(record.first_lsn, record.last_lsn);
  for (size_t i = 0; i < places.size(); ++i) {
    if (places_.Holds(record.entries_lsn + i)) places_.Put(record.entries_lsn + i, places[i]);
  }
}

void LogPartition::NoteDamage(const std::string& what) {
  if (damage_.ok()) damage_ = DataLoss("the log is damaged: ", what);
}

void LogPartition::Lose(Lsn lsn, const std::string& what) {
  if (!places_.Holds(lsn)) return;
  places_.Put(lsn, {});
  last_lost_ = std::max(last_lost_, lsn);
  lost_ = what;
}

Status LogPartition::damage() const {
  if (!damage_.ok() || last_lost() == 0) return damage_;
  return DataLoss("the log is damaged: ", lost_);
}

void LogPartition::EndReplay(const std::string& holes) {
  if (is_unsure_ || is_state_lost_ || state_.empty()) NoteDamage(holes);
  if (places_.is_whole()) return;
  Lsn missing = places_.first_lsn();
  while (!places_.at(missing).is_missing()) ++missing;
  NoteDamage(StrCat("entry ", missing, " (last is ", places_.last_lsn(), ") is lost; ", holes));
}

}  // namespace neptune
