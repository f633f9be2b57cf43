#include "neptune/base/private_memory.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "neptune/base/file.h"

namespace neptune {

Status ForbidCoreFiles() {
  rlimit limit{};
  if (getrlimit(RLIMIT_CORE, &limit) != 0) return ErrnoStatus(errno, "get limit of", "core files");
  // A limit of 1 byte writes no file, and Linux gives nothing to a program that core_pattern names;
  // with 0 it would get everything. A limit of 0 cannot be raised.
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, 1);
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_CORE, &limit) != 0) return ErrnoStatus(errno, "set limit of", "core files");
  return OkStatus();
}

Status KeepMemoryPrivate() {
  NEPTUNE_RETURN_IF_ERROR(ForbidCoreFiles());
  if (prctl(PR_SET_DUMPABLE, 0) != 0) return ErrnoStatus(errno, "protect", "the memory");
  return OkStatus();
}

}  // namespace neptune
