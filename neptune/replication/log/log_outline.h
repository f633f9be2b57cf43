// Summary of a member's log without its entries.
//
// Threads: immutable values.

#pragma once

#include <optional>
#include <vector>

#include "neptune/replication/log/log_entry.h"

namespace neptune {

// Durable state of a member beside its entries.
struct HardState {
  // The member takes part. Before that it must not promise anything (see safe/safe_replica.h).
  bool is_founded = false;
  // The member rejects all smaller epochs.
  Epoch epoch = 0;
  // The candidate it voted for in that epoch.
  std::optional<MemberIndex> voted_for;
  friend bool operator==(const HardState&, const HardState&) = default;
};

// First entry of a run of entries of one epoch.
struct EpochStart {
  Lsn lsn = 0;
  Epoch epoch = 0;
  friend bool operator==(const EpochStart&, const EpochStart&) = default;
};

// First entry for which a write set is in effect.
struct WriteSetStart {
  Lsn lsn = 0;
  MemberSet write_set;
  friend bool operator==(const WriteSetStart&, const WriteSetStart&) = default;
};

// What the protocols need to know of a log.
struct LogOutline {
  HardState promise;
  // The last entry known to be committed when this was last stored.
  Lsn committed = 0;
  // The first entry in the log; `base` is the dropped entry before it, with its epoch and write
  // set.
  Lsn first_lsn = 1;
  EpochStart base;
  MemberSet base_write_set;
  Lsn last_lsn = 0;  // first_lsn - 1 if the log is empty
  // Starts within the entries in the log, ordered by lsn.
  std::vector<EpochStart> epochs;
  std::vector<WriteSetStart> write_sets;
};

// A change of the log that is stored atomically.
struct LogChange {
  // Entries from here on are truncated first; 0: none.
  Lsn drop_from = 0;
  // Appended to the log without a gap.
  std::vector<LogEntry> entries;
  std::optional<HardState> promise;
  // Stored only for the next start.
  std::optional<Lsn> committed;
  // Drops the whole log, because the data were replaced by a snapshot that ends with `base`.
  // `entries` follow it.
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
