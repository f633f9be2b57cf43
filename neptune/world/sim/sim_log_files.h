// Log files of a simulated host: in memory, with power cuts, damaged bits and unreadable places.
//
//   reads see     all writes
//   Crash keeps   what was synced; of each later write all, nothing, or a part from its beginning,
//                 independently of the others
//   a sync        makes all writes durable, at once
//
// No I/O, no clock; random numbers are passed in.
// Threads: thread-compatible; all loops of the simulated world share one kernel thread.
// Errors: UNAVAILABLE the file was opened before a crash, or by a process that was killed, or the
//   place is unreadable; the statuses passed to FailWrites and FailSyncs; those of the faults.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/world/log_files.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/sim_disk_faults.h"

namespace neptune {

class SimLogFiles : public LogFiles {
 public:
  // `faults` are those of the disk; null: none.
  explicit SimLogFiles(std::shared_ptr<SimDiskFaults> faults = nullptr);
  ~SimLogFiles() override;

  StatusOr<std::unique_ptr<LogFile>> Open(std::string_view name) override;
  Status Remove(std::string_view name) override;
  StatusOr<std::vector<std::string>> List() const override;

  // Power failure: files lose what they would lose on a disk, and all open files stop working.
  void Crash(RandomSource& random);
  // The program is killed: no data is lost. Its open files stop working.
  void EndProcess();

  // Makes every write, cut, sync and creation of a file fail with `status` and without effect until
  // it is called with OK: a full or broken disk.
  void FailWrites(Status status);
  // Makes every sync fail with `status` until it is called with OK: what was written can be read,
  // but is not durable.
  void FailSyncs(Status status);
  // Calls `intercept` before each write, cut and sync of a file; if it returns an error, the call
  // fails with it and without effect. Null: none.
  using Interceptor = std::function<Status(std::string_view file, bool is_sync)>;
  void Intercept(Interceptor intercept);
  // Inverts one bit of a file, as a decaying disk does. REQUIRES: there is such a byte.
  void FlipBit(std::string_view name, uint64_t offset, int bit);
  // Inverts a drawn bit of what is durable in the files whose names `wanted` accepts. Nullopt: they
  // have none.
  struct DecayedByte {
    std::string name;
    uint64_t offset = 0;
    char value = 0;  // with the inverted bit
  };
  std::optional<DecayedByte> Decay(RandomSource& random,
                                   const std::function<bool(std::string_view name)>& wanted);
  // Whether it is still there: the file neither is gone nor was written there since.
  bool Holds(const DecayedByte& decayed) const;
  // Makes every read fail that touches these bytes; size 0: none.
  void MakeUnreadable(std::string_view name, uint64_t offset, uint64_t size);

  // List, which cannot fail here.
  std::vector<std::string> Names() const;
  // The contents of a file, as reads see them; empty if there is none.
  std::string ContentsOf(std::string_view name) const;
  // Replaces the contents of a file, durably.
  void Replace(std::string_view name, std::string contents);
  // Bytes of all files.
  uint64_t size() const;
  // Number of successful syncs of all files.
  uint64_t sync_count() const;

 private:
  struct Host;
  struct Contents;
  class File;
  friend class File;

  const std::shared_ptr<Host> host_;
  std::map<std::string, std::shared_ptr<Contents>, std::less<>> files_;
  std::vector<std::weak_ptr<Contents>> removed_;  // while a file of the process refers to it
};

}  // namespace neptune
