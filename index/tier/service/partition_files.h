// The files in the folder of a partition, as another replica copies them.
//
// Threads: pure functions over files; they block the kernel thread.
// Errors: INVALID_ARGUMENT the name is none of a file in the folder itself; NOT_FOUND; those of
//   neptune/base/file.h.
// Limits: kPartitionFilesMax files; kFilePartSizeMax bytes a read. Links are not followed, and
//   folders are left out.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "index/tier/files.pb.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr size_t kPartitionFilesMax = 256;
inline constexpr size_t kFilePartSizeMax = 256u << 10;

// The list of files, or a part of one.
neptune::StatusOr<FilesAnswer> ReadPartitionFiles(const std::string& directory,
                                                  const FilesQuery& query);

// True if a file of this name can only be in the folder itself.
bool IsPlainFileName(std::string_view name);

}  // namespace search::index
