// Which files a folder holds: their names, sizes, times of change and inodes. A store that keeps
// its files open reads the old ones when others were put in their place, and this shows it.
//
// Threads: thread-safe.
// Errors: a file or folder that cannot be looked up is left out, and so differs from before.

#pragma once

#include <string>

namespace search::docserver {

// Equal for a folder in which no file was written, replaced, added or removed. Folders in it are
// left out. Cost: a system call for each file.
std::string FolderState(const std::string& directory);

}  // namespace search::docserver
