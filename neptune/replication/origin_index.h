// Where a log holds the writes of each origin, and how many of each it has seen.
//
//   log:  a1 b1 a2 c1 b2 | counts a2 b2 c1 | a3 c2        counts: a3 b2 c2
//
// The writes of an origin stand in every log in their order without a gap; those of different origins anyhow. An entry with
// the counts keeps them when what stands before it is dropped.
//
// Source: [Shen02] 5.2.1 (write-anywhere for commutative writes).
// Threads: thread-compatible.
// Limits: kOriginCountMax origins; 8 bytes for each write that the log holds.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "neptune/base/status.h"
#include "neptune/replication/log_entry.h"

namespace neptune {

// Each time a member loses its disk it becomes another origin.
inline constexpr size_t kOriginCountMax = 1024;

// A member in one life of its disk: a number that was drawn when that was new, and is kept in its log.
using Origin = uint64_t;

// Of each origin the first so many writes.
using OriginCounts = std::map<Origin, uint64_t>;

uint64_t CountOf(const OriginCounts& counts, const Origin& origin);
bool Covers(const OriginCounts& counts, const OriginCounts& others);
std::string EncodeOriginCounts(const OriginCounts& counts);
StatusOr<OriginCounts> DecodeOriginCounts(std::string_view bytes);

class OriginIndex {
 public:
  // Of a log whose first entry follows `base`.
  explicit OriginIndex(Lsn base = 0) : last_lsn_(base), is_whole_(base == 0) {}

  // The next entry of the log. Errors: kDataLoss it cannot follow; nothing has changed.
  Status Append(const LogEntry& entry);
  // What is before `first` is gone. REQUIRES: an entry with the counts is at `first` or after it.
  void DropBefore(Lsn first);
  // Everything is gone; the data hold these writes.
  void Restart(Lsn base, const OriginCounts& counts);

  Lsn last_lsn() const { return last_lsn_; }
  // Of the last entry with the counts; 0: none.
  Lsn counts_lsn() const { return counts_lsn_; }
  OriginCounts counts() const;
  // Of the entries up to `lsn`. REQUIRES: it is not before the first entry by more than one.
  OriginCounts CountsAt(Lsn lsn) const;
  uint64_t CountOf(const Origin& origin) const;
  // nullopt: not here yet, or dropped.
  std::optional<Lsn> LsnOf(const Origin& origin, uint64_t number) const;
  // Whether a log that has these lacks something that was dropped here.
  bool HasDroppedBeyond(const OriginCounts& counts) const;

 private:
  struct Writes {
    uint64_t dropped = 0;
    std::deque<Lsn> lsns;
    uint64_t count() const { return dropped + lsns.size(); }
  };
  Status AppendWrite(const LogEntry& entry);
  Status AppendCounts(const LogEntry& entry);

  std::map<Origin, Writes> origins_;
  Lsn last_lsn_;
  Lsn counts_lsn_ = 0;
  bool is_whole_;  // the counts of what was dropped are known
};

}  // namespace neptune
