#include "neptune/base/private_memory.h"

#include <sys/prctl.h>

#include <cerrno>

#include "neptune/base/file.h"
#include "neptune/base/secret_file.h"

namespace neptune {

Status KeepMemoryPrivate() {
  NEPTUNE_RETURN_IF_ERROR(ForbidCoreFiles());
  if (prctl(PR_SET_DUMPABLE, 0) != 0) return ErrnoStatus(errno, "protect", "the memory");
  return OkStatus();
}

}  // namespace neptune
