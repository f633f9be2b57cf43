// Durable storage of a simulated host: the twin of RocksDB, with power cuts.
//
//   reads see     contents + all batches of the journal
//   Crash keeps   contents + a random number of the journal's batches, from its beginning
//   a sync        moves the journal into the contents
//
// A batch that the crash tears apart is dropped whole, as a write-ahead log with checksums does.
//
// Departs from source: none.
// No I/O, no clock; chance comes in as an argument.
// Threads: thread-compatible; all loops of the simulated world are one kernel thread.
// Errors: UNAVAILABLE from a store that was opened before a crash, or by a process that was killed; what FailWrites
//   was given.
// Limits: kUnsyncedCountMax batches in the journal of a store; at the limit the older half becomes
//   durable, as when a log-structured store writes out its memory.

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/world/random_source.h"
#include "neptune/world/storage.h"

namespace neptune {

inline constexpr size_t kUnsyncedCountMax = 10'000;

// Belongs to the host and lives through its crashes; the node program on the host does not.
class SimStorage : public DurableStorage {
 public:
  SimStorage();
  ~SimStorage() override;

  StatusOr<std::unique_ptr<KeyValueStore>> Open(std::string_view name) override;
  Status Destroy(std::string_view name) override;
  StatusOr<std::vector<std::string>> List() const override;

  // The power goes: each store loses what it would lose on a disk, and all open ones stop working.
  void Crash(RandomSource& random);
  // The program is killed: nothing is lost, and the stores that it had open stop working and may be opened again.
  void EndProcess();

  // From now on every write and sync fails with `status` and changes nothing, until it is OK: a
  // full or broken disk. Reads go on.
  void FailWrites(Status status);

  // Batches written and not yet synced, over all stores.
  size_t unsynced_count() const;

 private:
  struct Disk;
  class Store;
  friend class Store;

  std::map<std::string, std::shared_ptr<Disk>, std::less<>> disks_;
  std::shared_ptr<Status> write_status_;
};

}  // namespace neptune
