// The places of a log's entries in the segments of its node.
//
//   first_lsn ── place, place, missing, place ── last_lsn
//
// A missing place belongs to an entry that the log should have, but whose bytes are damaged or not
// read yet.
//
// No I/O.
// Threads: thread-compatible.
// Limits: kLogEntryCountMax entries of a partition; 12 bytes of memory for each.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include "neptune/replication/log/log_entry.h"

namespace neptune {

inline constexpr uint64_t kLogEntryCountMax = 16u << 20;

struct LogPlace {
  uint32_t segment = 0;
  uint32_t offset = 0;
  uint32_t size = 0;  // 0: missing

  bool is_missing() const { return size == 0; }
  friend bool operator==(const LogPlace&, const LogPlace&) = default;
};

// Bytes of each segment that some log still needs.
class SegmentUse {
 public:
  void Add(const LogPlace& place);
  void Remove(const LogPlace& place);

  uint64_t size_of(uint32_t segment) const;
  uint64_t size() const { return size_; }

 private:
  std::map<uint32_t, uint64_t> sizes_;
  uint64_t size_ = 0;
};

class LogPlaces {
 public:
  // `use` counts the places' bytes and must outlive this object.
  explicit LogPlaces(SegmentUse& use) : use_(&use) {}

  Lsn first_lsn() const { return first_; }
  Lsn last_lsn() const { return first_ + places_.size() - 1; }
  bool Holds(Lsn lsn) const { return lsn >= first_ && lsn <= last_lsn(); }
  // REQUIRES: Holds(lsn).
  const LogPlace& at(Lsn lsn) const { return places_[lsn - first_]; }
  bool is_whole() const { return missing_count_ == 0; }

  // REQUIRES: first_lsn() <= lsn <= last_lsn() + 1.
  void Put(Lsn lsn, const LogPlace& place);
  void DropFrom(Lsn lsn);
  // Makes `first` to `last` the log's entries: drops others, and adds missing ones.
  // REQUIRES: last + 1 - first is at most kLogEntryCountMax.
  void Resize(Lsn first, Lsn last);
  // Empties the log; the next entry is `first`.
  void Restart(Lsn first);
  // Makes all entries missing.
  void Forget();

 private:
  void DropBefore(Lsn lsn);
  void Release(const LogPlace& place);

  SegmentUse* use_;
  Lsn first_ = 1;
  std::deque<LogPlace> places_;
  size_t missing_count_ = 0;
};

}  // namespace neptune
