#include "neptune/replication/log/log_position.h"

#include <algorithm>

namespace neptune {
namespace {

// The last element that begins at or before `lsn`, or null.
template <typename Start>
const Start* LastAtOrBefore(const std::vector<Start>& starts, Lsn lsn) {
  const auto after = std::upper_bound(starts.begin(), starts.end(), lsn,
                                      [](Lsn at, const Start& start) { return at < start.lsn; });
  return after == starts.begin() ? nullptr : &*(after - 1);
}

template <typename Start>
void DropStartsFrom(std::vector<Start>& starts, Lsn lsn) {
  while (!starts.empty() && starts.back().lsn >= lsn) starts.pop_back();
}

// Drops the starts before `first`; the one in effect at `first` then begins there.
template <typename Start>
void DropStartsBefore(std::vector<Start>& starts, Lsn first) {
  const auto after = std::upper_bound(starts.begin(), starts.end(), first,
                                      [](Lsn at, const Start& start) { return at < start.lsn; });
  if (after == starts.begin()) return;
  starts.erase(starts.begin(), after - 1);
  starts.front().lsn = std::max(starts.front().lsn, first);
}

}  // namespace

LogPosition::LogPosition(const LogOutline& outline)
    : base_(outline.base),
      base_write_set_(outline.base_write_set),
      last_lsn_(outline.last_lsn),
      epochs_(outline.epochs),
      write_sets_(outline.write_sets) {}

std::optional<Epoch> LogPosition::EpochAt(Lsn lsn) const {
  if (lsn == base_.lsn) return base_.epoch;
  if (lsn < base_.lsn || lsn > last_lsn_) return std::nullopt;
  return LastAtOrBefore(epochs_, lsn)->epoch;
}

Lsn LogPosition::EpochBegin(Lsn lsn) const {
  const EpochStart* const start = LastAtOrBefore(epochs_, lsn);
  return start == nullptr ? first_lsn() : start->lsn;
}

MemberSet LogPosition::write_set() const {
  return write_sets_.empty() ? base_write_set_ : write_sets_.back().write_set;
}

MemberSet LogPosition::WriteSetAt(Lsn lsn) const {
  const WriteSetStart* const start = LastAtOrBefore(write_sets_, lsn);
  return start == nullptr ? base_write_set_ : start->write_set;
}

void LogPosition::Append(const LogEntry& entry) {
  last_lsn_ = entry.lsn;
  if (epochs_.empty() || epochs_.back().epoch != entry.epoch) {
    epochs_.push_back({entry.lsn, entry.epoch});
  }
  if (entry.kind == EntryKind::kWriteSet) write_sets_.push_back({entry.lsn, entry.write_set});
}

void LogPosition::DropFrom(Lsn lsn) {
  last_lsn_ = std::min(last_lsn_, lsn - 1);
  DropStartsFrom(epochs_, lsn);
  DropStartsFrom(write_sets_, lsn);
}

void LogPosition::Restart(const EpochStart& base, MemberSet write_set) {
  base_ = base;
  base_write_set_ = write_set;
  last_lsn_ = base.lsn;
  epochs_.clear();
  write_sets_.clear();
}

void LogPosition::DropBefore(Lsn first) {
  if (first <= first_lsn()) return;
  const Lsn last_dropped = std::min(first - 1, last_lsn_);
  base_write_set_ = WriteSetAt(last_dropped);
  base_ = {last_dropped, *EpochAt(last_dropped)};
  DropStartsBefore(epochs_, base_.lsn + 1);
  while (!write_sets_.empty() && write_sets_.front().lsn <= base_.lsn) {
    write_sets_.erase(write_sets_.begin());
  }
  if (base_.lsn == last_lsn_) epochs_.clear();
}

}  // namespace neptune
