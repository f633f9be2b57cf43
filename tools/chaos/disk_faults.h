// Faults of the files and of the wall clock of one process: slow flushes, failing reads, little
// free space, bits that flip while it is down or in its log while it runs, and the loss of what it
// had not flushed.
//
//   DiskFaults ── page in memory ──► libdisk_faults.so in the process   while it runs
//        └─────── its files                                            while it is down
//
// Threads: thread-compatible.
// Units: seconds of delay and offset; probabilities.
// Errors: kUnavailable a file cannot be read or changed; kNotFound the library was not built, or
//   there is no byte to flip; kResourceExhausted the process had too many files to know what it had
//   flushed.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/world/random_source.h"

namespace search::chaos {

struct DiskFaultPage;

// A bit of a file.
struct BitPlace {
  std::string path;
  uint64_t offset = 0;
  int bit = 0;
  std::string ToString() const;
};

// Flips it in the file. A process that has the file open reads it from then on, and a write of it
// at the same time may be lost.
neptune::Status FlipBit(const BitPlace& place);
// The byte there; nullopt: the file is gone, or ends before.
std::optional<char> ByteAt(const BitPlace& place);
// Draws a bit of the files below `folder`, each byte as likely as any other. Files that hold no
// data are left out: locks, and logs for people (LOG, LOG.old.*).
neptune::StatusOr<BitPlace> DrawBit(const std::string& folder, neptune::RandomSource& random);

class DiskFaults {
 public:
  // `folder`: the files that have faults, an absolute path without links; `page`: a new file for
  // the page, outside of it.
  static neptune::StatusOr<std::unique_ptr<DiskFaults>> Make(const std::string& folder,
                                                             const std::string& page);
  ~DiskFaults();
  DiskFaults(const DiskFaults&) = delete;
  DiskFaults& operator=(const DiskFaults&) = delete;

  // The words that precede a program and its arguments, so that it has the faults.
  const std::vector<std::string>& command_prefix() const { return command_prefix_; }
  const std::string& folder() const { return folder_; }

  // Each takes effect at once; 0 ends it.
  void SetFlushDelay(neptune::Duration delay);
  void SetReadErrors(double probability);
  void SetClockOffset(neptune::Duration offset);
  // The free space of the folder's file system, in bytes; nullopt: the truth.
  void SetFreeSpace(std::optional<uint64_t> free);
  neptune::Duration flush_delay() const;

  uint64_t flush_count() const;
  uint64_t read_error_count() const;
  // Whether a flush is under way.
  bool is_flushing() const;

  // Draws a bit of what the process has flushed in the segments of its node's log. It may run.
  neptune::StatusOr<BitPlace> DrawLogBit(neptune::RandomSource& random) const;
  // Cuts what was appended to each file since its last flush, to a drawn length; returns how many
  // bytes are gone. REQUIRES: the process has ended.
  neptune::StatusOr<uint64_t> LoseUnflushed(neptune::RandomSource& random);

 private:
  DiskFaults(std::string folder, std::vector<std::string> command_prefix, DiskFaultPage* page)
      : folder_(std::move(folder)), command_prefix_(std::move(command_prefix)), page_(page) {}

  const std::string folder_;
  const std::vector<std::string> command_prefix_;
  DiskFaultPage* const page_;
};

}  // namespace search::chaos
