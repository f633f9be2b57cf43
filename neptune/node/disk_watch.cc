#include "neptune/node/disk_watch.h"

#include <glog/logging.h>

#include "neptune/base/time_grid.h"
#include "neptune/capsule/device_call.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

constexpr char kFolder[] = "/neptune/disk-space";

ParkResult SleepToNext() {
  return this_thread::SleepUntil(NextOnGrid(this_thread::Now(), kDiskWatchInterval));
}

}  // namespace

Status DiskWatch::Start() {
  NEPTUNE_RETURN_IF_ERROR(MakeDeviceCapsule(capsules_, "disk-space", kFolder));
  Measure();
  return ThreadScheduler::Current()
      ->Spawn(
          [this] {
            while (SleepToNext() != ParkResult::kStopping) Measure();
          },
          "disk watch")
      .status();
}

void DiskWatch::Measure() {
  const StatusOr<DiskSpace> space = RunOnDevice(capsules_, std::string(kFolder) + "/data",
                                                [storage = &storage_] { return storage->Space(); });
  if (!space.ok()) {
    LOG_IF(WARNING, !has_complained_) << "disk space is not known: " << space.status();
    has_complained_ = true;
    return;
  }
  has_complained_ = false;
  const DiskRoom::Level before = room_.level();
  if (!room_.Update(*space)) return;
  LOG(WARNING) << "disk: " << NameOf(before) << ", now " << NameOf(room_.level()) << ": "
               << space->free << " of " << space->total << " bytes are free";
}

}  // namespace neptune
