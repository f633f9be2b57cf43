// Which entries a member's log holds, by epoch and write set, without the entries.
//
// Threads: thread-compatible.

#pragma once

#include <optional>
#include <vector>

#include "neptune/replication/log_outline.h"

namespace neptune {

class LogPosition {
 public:
  explicit LogPosition(const LogOutline& outline);

  Lsn first_lsn() const { return base_.lsn + 1; }
  Lsn last_lsn() const { return last_lsn_; }
  Epoch last_epoch() const { return *EpochAt(last_lsn_); }
  // The last entry that is no longer here, and the write set then.
  const EpochStart& base() const { return base_; }
  // Of the entry, or of the base; nullopt: it is before that, or not here yet.
  std::optional<Epoch> EpochAt(Lsn lsn) const;
  // The first entry here of the epoch that the entry is of.
  Lsn EpochBegin(Lsn lsn) const;
  // That holds after the last entry.
  MemberSet write_set() const;
  // That held at the entry. REQUIRES: it is here, or is the base.
  MemberSet WriteSetAt(Lsn lsn) const;

  // REQUIRES: entry.lsn == last_lsn() + 1.
  void Append(const LogEntry& entry);
  // Entries from `lsn` on are gone. REQUIRES: lsn > base().lsn.
  void DropFrom(Lsn lsn);
  // Everything is gone, and the data end with `base`.
  void Restart(const EpochStart& base, MemberSet write_set);
  // The log dropped what is before `first`.
  void DropBefore(Lsn first);

 private:
  EpochStart base_;
  MemberSet base_write_set_;
  Lsn last_lsn_ = 0;
  std::vector<EpochStart> epochs_;
  std::vector<WriteSetStart> write_sets_;
};

}  // namespace neptune
