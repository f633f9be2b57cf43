// Durable storage of a simulated host: the counterpart of RocksDB, with power cuts.
//
//   reads see     contents + all batches of the journal
//   Crash keeps   contents + a random number of the journal's batches, from its beginning
//   a sync        moves the journal into the contents
//
// A batch that the crash tears apart is dropped whole, as a write-ahead log with checksums does.
//
// No I/O, no clock; random numbers are passed in.
// Threads: thread-compatible; all loops of the simulated world share one kernel thread.
// Errors: UNAVAILABLE the store was opened before a crash, or by a process that was killed; the
//   status passed to FailWrites.
// Limits: kUnsyncedCountMax batches in the journal of a store. At the limit the older half becomes
//   durable, as when a log-structured store flushes its memtable.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/disk_room.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/sim_log_files.h"
#include "neptune/world/storage.h"

namespace neptune {

inline constexpr size_t kUnsyncedCountMax = 10'000;

// Belongs to the host and survives its crashes; the node program on the host does not.
class SimStorage : public DurableStorage {
 public:
  SimStorage();
  ~SimStorage() override;

  StatusOr<std::unique_ptr<KeyValueStore>> Open(std::string_view name) override;
  Status Destroy(std::string_view name) override;
  StatusOr<std::vector<std::string>> List() const override;
  // Also for faults of single files.
  SimLogFiles& log_files() override { return log_files_; }

  // Power failure: each store and log file loses what it would lose on a disk, and all open ones
  // stop working.
  void Crash(RandomSource& random);
  // The program is killed: no data is lost. Its open stores and log files stop working and may be
  // opened again.
  void EndProcess();

  // Makes every write and sync fail with `status` and without effect until it is called with OK: a
  // full or broken disk. Reads still work.
  void FailWrites(Status status);

  // Makes the disk one of `total` bytes, of which the stores take the sizes of their keys and
  // values. A write that does not fit fails with RESOURCE_EXHAUSTED and has no effect. Default:
  // unbounded.
  void LimitSpace(uint64_t total);
  StatusOr<DiskSpace> Space() const override;

  // Number of batches written and not yet synced, over all stores.
  size_t unsynced_count() const;

 private:
  struct Disk;
  struct Capacity;
  class Store;
  friend class Store;

  std::map<std::string, std::shared_ptr<Disk>, std::less<>> disks_;
  std::shared_ptr<Status> write_status_;
  SimLogFiles log_files_;
  const std::shared_ptr<Capacity> space_;
};

}  // namespace neptune
