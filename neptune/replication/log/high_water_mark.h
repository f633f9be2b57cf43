// How far a node's log was synced, kept apart from it: what tells a damaged last batch from a torn
// one.
//
// The file has two slots. A mark is written after each sync of the log, to the slot whose contents
// need not survive, and is itself synced only now and then: a mark that is behind claims less.
//
//   slot, at 0 and at 4096:  checksum (8), batch (8)
//
// Threads: thread-compatible. All calls block.
// Errors: those of LogFiles.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "neptune/base/status.h"
#include "neptune/world/log_files.h"

namespace neptune {

class HighWaterMark {
 public:
  // Opens the file, and reads what it says. `salt`: see log_batch.h.
  static StatusOr<HighWaterMark> Open(LogFiles& files, std::string_view name, uint64_t salt);

  // The largest batch that the file claims; 0: none.
  uint64_t batch() const { return batch_; }
  // False: a part of the file could not be read when it was opened, so it may claim more.
  bool is_whole() const { return is_whole_; }
  // The batch, and with it all earlier ones, is synced.
  Status Note(uint64_t batch);
  // Makes the last mark durable.
  Status Sync();
  bool is_synced() const { return is_synced_; }

 private:
  HighWaterMark(std::unique_ptr<LogFile> file, uint64_t salt)
      : file_(std::move(file)), salt_(salt) {}
  Status Load();

  std::unique_ptr<LogFile> file_;
  uint64_t salt_;
  uint64_t batch_ = 0;
  bool is_whole_ = true;
  uint64_t slot_ = 0;  // the next mark's
  bool is_synced_ = true;
};

}  // namespace neptune
