// Other names of calls that are taken over: what a compiler makes of them when it checks the size of buffers, and those
// of large files.

#include <cstdlib>

#include "neptune/capsule/interpose/calls.h"
#include "neptune/capsule/interpose/preload/call_names.h"
#include "neptune/capsule/interpose/stream_calls.h"

namespace neptune::interpose {
namespace {

// A buffer is smaller than what may be written to it.
void CheckSize(size_t size, size_t buffer_size) {
  if (size > buffer_size) std::abort();
}

}  // namespace
}  // namespace neptune::interpose

using neptune::interpose::CheckSize;

NEPTUNE_PRELOAD_CALL ssize_t neptune___read_chk(int fd, void* data, size_t size,
                                                size_t buffer_size) {
  CheckSize(size, buffer_size);
  return neptune_read(fd, data, size);
}

NEPTUNE_PRELOAD_CALL ssize_t neptune___recv_chk(int fd, void* data, size_t size, size_t buffer_size,
                                                int flags) {
  CheckSize(size, buffer_size);
  return neptune_recv(fd, data, size, flags);
}

NEPTUNE_PRELOAD_CALL ssize_t neptune___recvfrom_chk(int fd, void* data, size_t size,
                                                    size_t buffer_size, int flags, sockaddr* from,
                                                    socklen_t* from_size) {
  CheckSize(size, buffer_size);
  return neptune_recvfrom(fd, data, size, flags, from, from_size);
}

NEPTUNE_PRELOAD_CALL int neptune___poll_chk(pollfd* descriptors, nfds_t count, int timeout_ms,
                                            size_t buffer_size) {
  CheckSize(count * sizeof(pollfd), buffer_size);
  return neptune_poll(descriptors, count, timeout_ms);
}

NEPTUNE_PRELOAD_CALL int neptune___ppoll_chk(pollfd* descriptors, nfds_t count,
                                             const timespec* timeout, const sigset_t* mask,
                                             size_t buffer_size) {
  CheckSize(count * sizeof(pollfd), buffer_size);
  return neptune_ppoll(descriptors, count, timeout, mask);
}

NEPTUNE_PRELOAD_CALL ssize_t neptune_sendfile64(int out, int in, off64_t* offset, size_t size) {
  return neptune_sendfile(out, in, offset, size);
}

NEPTUNE_PRELOAD_CALL int neptune_fcntl64(int fd, int command, void* argument) {
  return neptune_fcntl(fd, command, argument);
}

NEPTUNE_PRELOAD_CALL FILE* neptune_fdopen(int fd, const char* mode) {
  return neptune::interpose::OpenStream(fd, mode);
}

NEPTUNE_PRELOAD_CALL int neptune_fileno(FILE* stream) {
  return neptune::interpose::DescriptorOf(stream);
}

NEPTUNE_PRELOAD_CALL int neptune_fileno_unlocked(FILE* stream) {
  return neptune::interpose::DescriptorOf(stream);
}
