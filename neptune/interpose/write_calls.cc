// Calls that wait until the system has taken the whole buffer.

#include <string>

#include "neptune/interpose/blocking_call.h"
#include "neptune/interpose/calls.h"
#include "neptune/interpose/message_parts.h"
#include "neptune/interpose/shipped_file.h"

namespace neptune::interpose {
namespace {

// Sends until all `size` bytes are sent or a call fails. `send` is called with the number of bytes
// sent so far.
template <typename Send>
ssize_t SendAll(int fd, size_t size, Send send) {
  BlockingCall call(fd, POLLOUT);
  size_t done = 0;
  for (;;) {
    const ssize_t result = send(done);
    if (result > 0) done += static_cast<size_t>(result);
    if (result == 0 || done == size || (result > 0 && !(call.parks() && call.Waits()))) break;
    if (result < 0 && !call.WaitToRepeat()) {
      if (done == 0) return -1;
      break;
    }
  }
  return call.End(static_cast<ssize_t>(done));
}

ssize_t WriteShipped(int fd, const void* data, size_t size) {
  const ShippedFile file(fd);
  if (!file.ships()) return RealLibc().write(fd, data, size);
  return file.Write(data, size, [fd](const char* from, size_t count) {
    return RealLibc().write(fd, from, count);
  });
}

ssize_t WritePartsShipped(int fd, const iovec* parts, size_t count) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i) {
    bytes.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  }
  return WriteShipped(fd, bytes.data(), bytes.size());
}

// The dependency of an unconnected socket is the peer that it sent to last.
void NoteDestination(int fd, const sockaddr* to, socklen_t size) {
  Descriptor* const descriptor = FindTracked(fd);
  const auto file = descriptor == nullptr ? nullptr : descriptor->file();
  if (file != nullptr) file->SetDependency(DependencyOn(to, size));
}

bool NeedNotWait(int fd, int flags) {
  return (flags & MSG_DONTWAIT) != 0 || FindTracked(fd) == nullptr;
}

ssize_t SendMessageAll(int fd, const msghdr& message, int flags) {
  return SendAll(fd, SizeOf(message.msg_iov, message.msg_iovlen), [&](size_t done) {
    if (done == 0) return RealLibc().sendmsg(fd, &message, flags);
    // Ancillary data, e.g. descriptors, were sent with the first bytes.
    MessageParts rest(message.msg_iov, message.msg_iovlen, done);
    msghdr next{};
    next.msg_name = message.msg_name;
    next.msg_namelen = message.msg_namelen;
    next.msg_iov = rest.data();
    next.msg_iovlen = rest.count();
    return RealLibc().sendmsg(fd, &next, flags);
  });
}

// Moves bytes between two descriptors, waiting for either; each call moves at most `size` bytes.
template <typename Move>
ssize_t MoveAll(int in, int out, size_t size, Move move) {
  BlockingCall from(in, POLLIN);
  BlockingCall to(out, POLLOUT);
  for (;;) {
    const ssize_t result = move(size);
    if (result >= 0) return to.End(from.End(result));
    if (errno != EAGAIN) return result;
    // Wait for the one that is not ready.
    pollfd source = {in, POLLIN, 0};
    const bool source_is_ready = RealLibc().poll(&source, 1, 0) == 1;
    errno = EAGAIN;
    if (!(source_is_ready ? to : from).WaitToRepeat()) return result;
  }
}

}  // namespace
}  // namespace neptune::interpose

using neptune::interpose::Descriptor;
using neptune::interpose::FindTracked;
using neptune::interpose::MessageParts;
using neptune::interpose::NeedNotWait;
using neptune::interpose::RealLibc;
using neptune::interpose::SendAll;

ssize_t neptune_write(int fd, const void* data, size_t size) {
  const Descriptor* const descriptor = FindTracked(fd);
  if (descriptor == nullptr) return RealLibc().write(fd, data, size);
  if (descriptor->ships()) return neptune::interpose::WriteShipped(fd, data, size);
  return SendAll(fd, size, [&](size_t done) {
    return RealLibc().write(fd, static_cast<const char*>(data) + done, size - done);
  });
}

ssize_t neptune_writev(int fd, const iovec* parts, int count) {
  const Descriptor* const descriptor = FindTracked(fd);
  if (descriptor == nullptr || count <= 0) return RealLibc().writev(fd, parts, count);
  if (descriptor->ships()) {
    return neptune::interpose::WritePartsShipped(fd, parts, static_cast<size_t>(count));
  }
  const auto part_count = static_cast<size_t>(count);
  return SendAll(fd, neptune::interpose::SizeOf(parts, part_count), [&](size_t done) {
    if (done == 0) return RealLibc().writev(fd, parts, count);
    MessageParts rest(parts, part_count, done);
    return RealLibc().writev(fd, rest.data(), static_cast<int>(rest.count()));
  });
}

ssize_t neptune_send(int fd, const void* data, size_t size, int flags) {
  return neptune_sendto(fd, data, size, flags, nullptr, 0);
}

ssize_t neptune_sendto(int fd, const void* data, size_t size, int flags, const sockaddr* to,
                       socklen_t to_size) {
  const auto send = [&](size_t done) {
    return RealLibc().sendto(fd, static_cast<const char*>(data) + done, size - done, flags, to,
                             to_size);
  };
  if (NeedNotWait(fd, flags)) return send(0);
  if (to != nullptr) neptune::interpose::NoteDestination(fd, to, to_size);
  return SendAll(fd, size, send);
}

ssize_t neptune_sendmsg(int fd, const msghdr* message, int flags) {
  if (NeedNotWait(fd, flags)) return RealLibc().sendmsg(fd, message, flags);
  return neptune::interpose::SendMessageAll(fd, *message, flags);
}

int neptune_sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
  if (NeedNotWait(fd, flags)) return RealLibc().sendmmsg(fd, messages, count, flags);
  for (unsigned done = 0; done < count; ++done) {
    const ssize_t result = neptune::interpose::SendMessageAll(fd, messages[done].msg_hdr, flags);
    if (result < 0) return done == 0 ? -1 : static_cast<int>(done);
    messages[done].msg_len = static_cast<unsigned>(result);
  }
  return static_cast<int>(count);
}

ssize_t neptune_sendfile(int out, int in, off_t* offset, size_t size) {
  if (FindTracked(out) == nullptr) return RealLibc().sendfile(out, in, offset, size);
  // The system updates the offset; at the end of the file nothing is moved.
  return SendAll(out, size,
                 [&](size_t done) { return RealLibc().sendfile(out, in, offset, size - done); });
}

ssize_t neptune_splice(int in, off64_t* in_offset, int out, off64_t* out_offset, size_t size,
                       unsigned flags) {
  const auto move = [&](size_t most) {
    return RealLibc().splice(in, in_offset, out, out_offset, most, flags);
  };
  const bool is_tracked = FindTracked(in) != nullptr || FindTracked(out) != nullptr;
  if (!is_tracked || (flags & SPLICE_F_NONBLOCK) != 0) return move(size);
  return neptune::interpose::MoveAll(in, out, size, move);
}
