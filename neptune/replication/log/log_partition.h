// What a node's log knows of one partition.
//
// Each record of a partition names the batch that has the record before it. After a hole in the log
// the partition is unsure until its next record shows whether one of its own is in the hole. If so,
// what was known of its entries is forgotten, because the lost record may have dropped or replaced
// them; a log that does not need those entries any more is whole nevertheless.
//
// No I/O.
// Threads: thread-compatible.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/replication/log/log_batch.h"
#include "neptune/replication/log/log_places.h"

namespace neptune {

// True if a log can have the record's range of entries.
bool IsPossible(const LogRecord& record);

class LogPartition {
 public:
  explicit LogPartition(SegmentUse& use) : places_(use) {}

  // Takes the next record, whose batch has this number; the entries are at `places`.
  // REQUIRES: IsPossible(record), one place for each entry.
  void Apply(const LogRecord& record, uint64_t batch, const std::vector<LogPlace>& places);
  // Batches are lost that may have had records of this partition.
  void NoteHole() { is_unsure_ = true; }
  // Marks the log as damaged until it is restarted.
  void NoteDamage(const std::string& what);
  // The entry is missing from now on: the log is damaged until it is dropped, or restarted.
  void Lose(Lsn lsn, const std::string& what);
  // Nothing more is known of the log: what is not proven to be whole is damaged.
  void EndReplay(const std::string& holes);

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  const std::string& identity() const { return identity_; }
  const std::string& state() const { return state_; }
  // The number of the batch with its last record; 0: it has none yet.
  uint64_t last_batch() const { return last_batch_; }
  const LogPlaces& places() const { return places_; }
  // Marked as damaged until a restart.
  bool is_damaged() const { return !damage_.ok(); }
  // kDataLoss: the log is marked as damaged, or some of its entries are lost.
  Status damage() const;
  // The last entry that is lost and not dropped; 0: none.
  Lsn last_lost() const { return last_lost_ >= places_.first_lsn() ? last_lost_ : 0; }
  // Drops all entries.
  void Clear() { places_.Restart(places_.first_lsn()); }

 private:
  std::string name_;
  std::string identity_;
  std::string state_;
  uint64_t last_batch_ = 0;
  bool is_unsure_ = false;
  bool is_state_lost_ = false;
  Status damage_;
  Lsn last_lost_ = 0;
  std::string lost_;  // what was lost, for people
  LogPlaces places_;
};

}  // namespace neptune
