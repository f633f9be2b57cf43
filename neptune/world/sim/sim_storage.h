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
//   statuses passed to FailWrites, FailReads and FailOpens, and the faults of sim_disk_faults.h;
//   DATA_LOSS what Damage... has damaged.
// Limits: kUnsyncedCountMax batches in the journal of a store. At the limit the older half becomes
//   durable, as when a log-structured store flushes its memtable.

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

#include "neptune/base/disk_room.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/sim_disk_faults.h"
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
  // Faults that stores and log files share, beside those below.
  SimDiskFaults& disk_faults() { return *disk_faults_; }
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
  // Makes every read fail with `status` until it is called with OK: a disk that does not answer.
  void FailReads(Status status);
  // Makes every opening of a store or a log file fail with `status` until it is called with OK,
  // e.g. because the process has no descriptors left.
  void FailOpens(Status status);
  // Damages what is stored under the key, or the store as a whole, so that it cannot be opened.
  // Reads then fail with DATA_LOSS until the key is written again, or until the store is destroyed.
  // Errors: NOT_FOUND there is no such key or store.
  Status DamageValue(std::string_view name, std::string_view key);
  Status DamageStore(std::string_view name);
  // Damages a bit of what is stored, drawn among all bytes of log files, keys and values, or one
  // store as a whole; returns what it was, or nullopt if nothing is stored.
  std::optional<std::string> DamageSomething(RandomSource& random);
  // Whether a store still has what DamageValue or DamageStore has damaged.
  bool has_damage() const;

  // Makes the disk one of `total` bytes, of which the stores take the sizes of their keys and
  // values. A write that does not fit fails with RESOURCE_EXHAUSTED and has no effect. Default:
  // unbounded.
  void LimitSpace(uint64_t total);
  // What Space says, whatever the stores take, as if other programs used the disk too; nullopt: the
  // truth.
  void SaySpace(std::optional<DiskSpace> space) { said_space_ = space; }
  StatusOr<DiskSpace> Space() const override;

  // Calls `intercept` before each write (with its mode) and sync (kSynced) of a store or a log file
  // (kBuffered for its writes); if it returns an error, the write fails with it and without effect.
  // Null: none. For faults of one store or at one moment, and for tests of the order in which
  // stores are written.
  using Interceptor = std::function<Status(std::string_view name, WriteMode mode)>;
  void Intercept(Interceptor intercept);

  // Number of batches written and not yet synced, over all stores.
  size_t unsynced_count() const;

 private:
  struct Disk;
  struct Capacity;
  struct Faults;
  struct Opened;
  class Store;
  class View;

  std::map<std::string, std::shared_ptr<Disk>, std::less<>> disks_;
  const std::shared_ptr<SimDiskFaults> disk_faults_;
  const std::shared_ptr<Faults> faults_;
  SimLogFiles log_files_;
  const std::shared_ptr<Capacity> space_;
  std::optional<DiskSpace> said_space_;
};

}  // namespace neptune
