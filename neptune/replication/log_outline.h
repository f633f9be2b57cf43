// All that is known of a member's log without its entries.
//
// Threads: immutable values.

#pragma once

#include <optional>
#include <vector>

#include "neptune/replication/log_entry.h"

namespace neptune {

// What a member must not forget beside its entries.
struct HardState {
  // It takes part: before, it was neither asked nor may it promise anything (see safe_replica.h).
  bool is_founded = false;
  // Takes nothing of smaller epochs any more.
  Epoch epoch = 0;
  // Whom it voted for in that epoch.
  std::optional<MemberIndex> voted_for;
  friend bool operator==(const HardState&, const HardState&) = default;
};

// Where a run of entries of one epoch begins.
struct EpochStart {
  Lsn lsn = 0;
  Epoch epoch = 0;
  friend bool operator==(const EpochStart&, const EpochStart&) = default;
};

// From which entry on a write set holds.
struct WriteSetStart {
  Lsn lsn = 0;
  MemberSet write_set;
  friend bool operator==(const WriteSetStart&, const WriteSetStart&) = default;
};

// All of a log but its entries: what decisions need.
struct LogOutline {
  HardState promise;
  // Known to be committed when it was last stored.
  Lsn committed = 0;
  // Of the first entry that is here; the last before it, whose data are elsewhere, and its epoch and write set.
  Lsn first_lsn = 1;
  EpochStart base;
  MemberSet base_write_set;
  Lsn last_lsn = 0;  // first_lsn - 1: none is here
  // By lsn: of entries that are here.
  std::vector<EpochStart> epochs;
  std::vector<WriteSetStart> write_sets;
};

// One step, which is stored whole.
struct LogChange {
  // Entries from here on are dropped first; 0: none.
  Lsn drop_from = 0;
  // Follow the last one without a gap.
  std::vector<LogEntry> entries;
  std::optional<HardState> promise;
  // Stored for the next start only.
  std::optional<Lsn> committed;
  // Everything is dropped: the data came as a snapshot that ends with this. `entries` follow it.
  struct Restart {
    EpochStart base;
    MemberSet write_set;
  };
  std::optional<Restart> restart;

  bool empty() const {
    return drop_from == 0 && entries.empty() && !promise && !committed && !restart;
  }
};

}  // namespace neptune
