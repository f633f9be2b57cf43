// Index of the log of commutative writes: LSNs of each origin's writes, and the number of writes of
// each origin.
//
//   log:  a1 b1 a2 c1 b2 | counts a2 b2 c1 | a3 c2        counts: a3 b2 c2
//
// Every log has the writes of one origin in order and without gaps; writes of different origins
// interleave in any order. An entry with counts preserves them when the entries before it are
// dropped.
//
// Source: [Shen02] 5.2.1 (write-anywhere for commutative writes).
// Threads: thread-compatible.
// Limits: kOriginCountMax origins; 8 bytes for each write in the log.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "neptune/base/status.h"
#include "neptune/replication/log/log_entry.h"

namespace neptune {

// A member that loses its disk becomes a new origin.
inline constexpr size_t kOriginCountMax = 1024;

// Identifies one life of a member's disk: a random number drawn when the disk was new, kept in its
// log.
using Origin = uint64_t;

// For each origin the number n of its writes: the set of its first n writes.
using OriginCounts = std::map<Origin, uint64_t>;

uint64_t CountOf(const OriginCounts& counts, const Origin& origin);
bool Covers(const OriginCounts& counts, const OriginCounts& others);
std::string EncodeOriginCounts(const OriginCounts& counts);
StatusOr<OriginCounts> DecodeOriginCounts(std::string_view bytes);

class OriginIndex {
 public:
  // Index of a log whose first entry follows `base`.
  explicit OriginIndex(Lsn base = 0) : last_lsn_(base), is_whole_(base == 0) {}

  // Adds the next entry of the log. Errors: kDataLoss the entry cannot follow; the index is
  // unchanged.
  Status Append(const LogEntry& entry);
  // Drops the entries before `first`. REQUIRES: an entry with counts is at `first` or after it.
  void DropBefore(Lsn first);
  // Drops everything; the data contain the writes of `counts`.
  void Restart(Lsn base, const OriginCounts& counts);

  Lsn last_lsn() const { return last_lsn_; }
  // LSN of the last entry with counts; 0: none.
  Lsn counts_lsn() const { return counts_lsn_; }
  OriginCounts counts() const;
  // Counts up to and including `lsn`. REQUIRES: `lsn` is at least the first entry's LSN minus 1.
  OriginCounts CountsAt(Lsn lsn) const;
  uint64_t CountOf(const Origin& origin) const;
  // nullopt: not in the log yet, or dropped.
  std::optional<Lsn> LsnOf(const Origin& origin, uint64_t number) const;
  // True if a log with `counts` lacks a write that was dropped here.
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
  bool is_whole_;  // the counts of the dropped entries are known
};

}  // namespace neptune
