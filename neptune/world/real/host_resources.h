// What the operating system allows this process; internal to world/real.
//
// Threads: thread-safe.

#pragma once

#include <cstddef>
#include <string>

#include "neptune/base/disk_room.h"
#include "neptune/base/status.h"
#include "neptune/world/world.h"

namespace neptune {

// Raises the soft limit of open descriptors to the hard one, at most to a million; returns the
// limit then in force. It stays if that fails.
size_t RaiseDescriptorLimit();

// Memory of the machine or, if that is less, of the control groups below `cgroup_root` that hold
// the process.
uint64_t MemorySize(const std::string& cgroup_root = "/sys/fs/cgroup");

// Space of the file system that holds `path`, or the nearest of its parents that exists.
StatusOr<DiskSpace> SpaceOf(const std::string& path);

}  // namespace neptune
