// Tracks the epochs and write sets of a member's log without its entries.
//
// Threads: thread-compatible.

#pragma once

#include <optional>
#include <vector>

#include "neptune/replication/log/log_outline.h"

namespace neptune {

class LogPosition {
 public:
  explicit LogPosition(const LogOutline& outline);

  Lsn first_lsn() const { return base_.lsn + 1; }
  Lsn last_lsn() const { return last_lsn_; }
  Epoch last_epoch() const { return *EpochAt(last_lsn_); }
  // The last dropped entry.
  const EpochStart& base() const { return base_; }
  // Epoch of the entry or of the base; nullopt: before the base, or after the last entry.
  std::optional<Epoch> EpochAt(Lsn lsn) const;
  // The first entry in the log of the same epoch as the entry.
  Lsn EpochBegin(Lsn lsn) const;
  // The write set in effect after the last entry.
  MemberSet write_set() const;
  // The write set in effect at the entry. REQUIRES: the entry is in the log or is the base.
  MemberSet WriteSetAt(Lsn lsn) const;

  // REQUIRES: entry.lsn == last_lsn() + 1.
  void Append(const LogEntry& entry);
  // Truncates the entries from `lsn` on. REQUIRES: lsn > base().lsn.
  void DropFrom(Lsn lsn);
  // Drops everything; the data end with `base`.
  void Restart(const EpochStart& base, MemberSet write_set);
  // Drops the entries before `first`.
  void DropBefore(Lsn first);

 private:
  EpochStart base_;
  MemberSet base_write_set_;
  Lsn last_lsn_ = 0;
  std::vector<EpochStart> epochs_;
  std::vector<WriteSetStart> write_sets_;
};

}  // namespace neptune
