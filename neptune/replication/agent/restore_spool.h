// Log entries that arrive with a snapshot and cannot be used before its data are complete: kept on
// the disk, in a store of their own.
//
//   Append ─► 5 6 7 8 9 ─► Take: 5 6 7, Take: 8 9
//
// Nothing in it needs to survive a crash: the restore begins again then, and empties it.
//
// Threads: thread-compatible; all calls but size() block.
// Errors: those of the storage; kDataLoss the stored bytes are damaged.
// Limits: the disk. In memory it has what one call passes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/replication/log/log_entry.h"
#include "neptune/world/storage.h"

namespace neptune {

class RestoreSpool {
 public:
  // `storage` must outlive this object.
  RestoreSpool(DurableStorage& storage, std::string name)
      : storage_(storage), name_(std::move(name)) {}

  // Empties it and removes its store, also that of an earlier process.
  Status Clear();
  // Closes its store, whose entries are lost.
  void Close();
  // Adds entries. REQUIRES: they follow the last one without a gap.
  Status Append(const std::vector<LogEntry>& entries);
  // Removes the first entries, of about size_max bytes, and returns them; none if it is empty.
  StatusOr<std::vector<LogEntry>> Take(size_t size_max);

  bool empty() const { return count_ == 0; }
  // Number of entries.
  uint64_t count() const { return count_; }

 private:
  DurableStorage& storage_;
  const std::string name_;
  std::unique_ptr<KeyValueStore> store_;  // null: there was no entry yet
  Lsn first_ = 0;
  uint64_t count_ = 0;
};

}  // namespace neptune
