// popen and pclose: the process of a request that is ended early is killed, with all that it started, and waited for.

#include <stdio.h>
#include <string.h>

#include <cerrno>

#include "neptune/sert/child_processes.h"
#include "neptune/sert/code_ranges.h"
#include "neptune/sert/interpose/next.h"
#include "neptune/sert/termination.h"

namespace neptune::sert {
namespace {

// "r" or "w", and "e" if it likes.
bool IsMode(const char* mode) {
  return (mode[0] == 'r' || mode[0] == 'w') && (mode[1] == 0 || strcmp(mode + 1, "e") == 0);
}

FILE* OpenChild(RequestRecord* record, const char* command, const char* mode) {
  static Next<FILE*(int, const char*)> open_stream("fdopen");
  if (!IsMode(mode)) {
    errno = EINVAL;
    return nullptr;
  }
  const bool reads = mode[0] == 'r';
  const StartedChild started = StartShell(command, reads);
  if (started.id == 0) return nullptr;
  record->ledger.RemoveDescriptor(started.fd);  // the stream's
  FILE* const stream = open_stream(started.fd, reads ? "r" : "w");
  const PopenChild child{stream, started.id};
  if (stream != nullptr && NoteChild(child)) {
    record->ledger.AddChild(child);
    return stream;
  }
  KillChild(started.id);
  stream != nullptr ? fclose(stream) : close(started.fd);
  errno = ENOMEM;
  return nullptr;
}

// The request's own: it may be ended while it waits.
int CloseChild(RequestRecord* record, const PopenChild& child, const void* caller) {
  static Next<int(FILE*)> close_stream("fclose");
  const PopenChild closed{nullptr, child.id};
  {
    const Region region(record, caller);
    record->ledger.RemoveChild(child);
    record->ledger.AddChild(closed);
    close_stream(static_cast<FILE*>(child.stream));
  }
  while (true) {
    const Region region(record, caller);
    const int status = AwaitChild(child.id);
    if (status == -1 && errno == EINTR) continue;
    record->ledger.RemoveChild(closed);
    return status;
  }
}

}  // namespace
}  // namespace neptune::sert

using neptune::sert::Next;
using neptune::sert::RequestRecord;

NEPTUNE_SERT_SYMBOL FILE* popen(const char* command, const char* mode) {
  static Next<FILE*(const char*, const char*)> next("popen");
  RequestRecord* const record = neptune::sert::accounting_record;
  const void* const caller = __builtin_return_address(0);
  if (record == nullptr || neptune::sert::library_code.Contains(caller)) return next(command, mode);
  const neptune::sert::Region region(record, caller);
  return neptune::sert::OpenChild(record, command, mode);
}

// Also of a stream that an earlier request left open, or another thread's.
NEPTUNE_SERT_SYMBOL int pclose(FILE* stream) {
  static Next<int(FILE*)> next("pclose");
  const pid_t id = neptune::sert::ForgetChild(stream);
  if (id == 0) return next(stream);
  const neptune::PopenChild child{stream, id};
  RequestRecord* const record = neptune::sert::accounting_record;
  if (record != nullptr && record->ledger.HasChild(child)) {
    return neptune::sert::CloseChild(record, child, __builtin_return_address(0));
  }
  SERT_begin_outside();
  fclose(stream);
  int status = 0;
  do {
    status = neptune::sert::AwaitChild(id);
  } while (status == -1 && errno == EINTR);
  SERT_end_outside();
  return status;
}
