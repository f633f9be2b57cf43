// Measures the free space of the disk that holds a node's data, and keeps its DiskRoom up to date.
//
//   user-level thread, each quarter of a second ─ device call ─► DurableStorage::Space ─► DiskRoom
//
// A measurement that fails leaves the room as it was; it is tried again.
//
// Threads: Start on a user-level thread of the control loop, whose scheduler ends the watch.
// Errors: Start: those of the device capsule.

#pragma once

#include "neptune/base/disk_room.h"
#include "neptune/base/status.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/world/storage.h"

namespace neptune {

// Smaller: less can be written between two measurements. A disk that takes 1 GB/s uses up the
// smallest default reserve in one interval.
inline constexpr Duration kDiskWatchInterval = std::chrono::milliseconds(250);

class DiskWatch {
 public:
  // All outlive the watch's thread.
  DiskWatch(DurableStorage& storage, CapsuleStack& capsules, DiskRoom& room)
      : storage_(storage), capsules_(capsules), room_(room) {}

  // Measures once, then starts the thread.
  Status Start();

 private:
  void Measure();

  DurableStorage& storage_;
  CapsuleStack& capsules_;
  DiskRoom& room_;
  bool has_complained_ = false;
};

}  // namespace neptune
