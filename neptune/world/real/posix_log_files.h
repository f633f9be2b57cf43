// Log files in a folder of the operating system.
//
//   DIRECTORY/LOCK       locked while a process uses the folder
//   DIRECTORY/NAME       one file
//
// Threads: see log_files.h, also for durability and errors. Sync is fdatasync.

#pragma once

#include <memory>
#include <string>

#include "neptune/world/log_files.h"

namespace neptune {

// The directory and its parents are created, and its lock is taken, by the first call that needs
// them. The lock is held until the object and all its files are destroyed.
std::unique_ptr<LogFiles> MakePosixLogFiles(std::string directory);

}  // namespace neptune
