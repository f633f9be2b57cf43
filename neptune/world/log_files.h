// Files of a host for logs: written at positions, synced, read back and cut.
//
// The real world keeps them in a folder beside the stores (world/real/posix_log_files.h), the
// simulated world in memory, with power cuts, damaged bits and unreadable places
// (world/sim/sim_log_files.h). Both pass the suite in log_files_conformance.h.
//
// Threads: LogFiles is thread-safe. A LogFile may be read by any threads while one changes it. In
//   the real world all calls block the kernel thread, Sync for the duration of a disk flush.
// Durability: Open makes a new file's name durable, Remove its absence. Everything else is durable
//   once Sync returns OK. A crash before that keeps any part of what was written since the last
//   Sync: each write wholly, not at all, or up to some byte, independently of the others. After
//   Sync has failed the contents since the last successful one are unknown: they may be read and
//   yet be lost, until they are written and synced again.
// Errors: INVALID_ARGUMENT a bad name, or a write beyond the end; RESOURCE_EXHAUSTED the disk is
//   full; UNAVAILABLE the disk refuses, another process uses the folder, or (simulated) the host
//   crashed since the file was opened.
// Limits: names as in storage.h; reads and writes of kLogIoSizeMax bytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace neptune {

inline constexpr size_t kLogIoSizeMax = 1u << 30;

class LogFile {
 public:
  virtual ~LogFile() = default;

  virtual StatusOr<uint64_t> Size() const = 0;

  // Replaces bytes, or appends them. REQUIRES: offset is at most the size.
  virtual Status WriteAt(uint64_t offset, std::string_view bytes) = 0;

  // Makes all contents and the size durable.
  virtual Status Sync() = 0;

  // Reads `size` bytes, or fewer at the file's end.
  virtual StatusOr<std::string> ReadAt(uint64_t offset, size_t size) const = 0;

  // Cuts the file. REQUIRES: size is at most the present size.
  virtual Status Truncate(uint64_t size) = 0;
};

class LogFiles {
 public:
  virtual ~LogFiles() = default;

  // Opens the file; creates it if there is none. It may be open several times.
  virtual StatusOr<std::unique_ptr<LogFile>> Open(std::string_view name) = 0;

  // Removes the file; OK if there is none. Those that have it open may still read it.
  virtual Status Remove(std::string_view name) = 0;

  // Returns the names of all files in ascending order.
  virtual StatusOr<std::vector<std::string>> List() const = 0;
};

}  // namespace neptune
