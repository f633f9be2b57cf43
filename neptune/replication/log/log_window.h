// In-memory part of a log: the sizes of all entries, and a cache of the newest entries.
//
// Threads: thread-compatible.
// Limits: the cached entries have at most cache_size_max stored bytes; 4 more bytes per entry.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "neptune/replication/log/log_entry.h"

namespace neptune {

class LogWindow {
 public:
  explicit LogWindow(size_t cache_size_max) : cache_size_max_(cache_size_max) {}

  // Empties the window; the next entry is `first`.
  void Restart(Lsn first);
  // REQUIRES: entry.lsn == last_lsn() + 1.
  void Append(LogEntry entry, size_t stored_size);
  void DropFrom(Lsn lsn);
  void DropBefore(Lsn first);

  Lsn first_lsn() const { return first_lsn_; }
  Lsn last_lsn() const { return first_lsn_ + sizes_.size() - 1; }
  bool Holds(Lsn lsn) const { return lsn >= first_lsn_ && lsn <= last_lsn(); }
  // Total stored bytes of all entries.
  size_t size() const { return size_; }

  // See RedoLog::Read; nullopt: entry `first` is not cached.
  std::optional<std::vector<LogEntry>> Read(Lsn first, Lsn last, size_t size_max) const;

 private:
  uint32_t SizeOf(Lsn lsn) const { return sizes_[lsn - first_lsn_]; }
  // Evicts the oldest cached entry.
  void Forget();

  const size_t cache_size_max_;
  Lsn first_lsn_ = 1;
  std::deque<uint32_t> sizes_;
  size_t size_ = 0;
  std::deque<LogEntry> newest_;  // ends with the last entry, or is empty
  size_t newest_size_ = 0;
};

}  // namespace neptune
