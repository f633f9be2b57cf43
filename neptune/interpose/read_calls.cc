// Calls that wait until there is something to read.

#include <algorithm>
#include <cstring>
#include <string>

#include "neptune/interpose/blocking_call.h"
#include "neptune/interpose/calls.h"
#include "neptune/interpose/message_parts.h"
#include "neptune/interpose/shipped_file.h"

namespace neptune::interpose {
namespace {

// Calls that never wait, on any descriptor.
constexpr int kNeverWaits = MSG_DONTWAIT | MSG_ERRQUEUE;

ssize_t ReadShipped(int fd, void* data, size_t size) {
  const ShippedFile file(fd);
  if (!file.ships()) return RealLibc().read(fd, data, size);
  return file.Read(data, size,
                   [fd](char* to, size_t most) { return RealLibc().read(fd, to, most); });
}

ssize_t ReadPartsShipped(int fd, const iovec* parts, size_t count) {
  std::string bytes(SizeOf(parts, count), '\0');
  const ssize_t result = ReadShipped(fd, bytes.data(), bytes.size());
  size_t done = 0;
  for (size_t i = 0; result > 0 && i < count; ++i) {
    const size_t size = std::min(parts[i].iov_len, static_cast<size_t>(result) - done);
    std::memcpy(parts[i].iov_base, bytes.data() + done, size);
    done += size;
  }
  return result;
}

bool WantsAll(int flags) { return (flags & MSG_WAITALL) != 0 && (flags & MSG_PEEK) == 0; }

// Receives until all `size` bytes have arrived, the stream ends, or a call fails. `receive` is
// called with the number of bytes received so far.
template <typename Receive>
ssize_t ReceiveAll(int fd, size_t size, Receive receive) {
  BlockingCall call(fd, POLLIN);
  size_t done = 0;
  for (;;) {
    const ssize_t result = receive(done);
    if (result > 0) done += static_cast<size_t>(result);
    if (result == 0 || done == size || (result > 0 && !(call.parks() && call.Waits()))) break;
    if (result < 0 && !call.WaitToRepeat()) {
      if (done == 0) return -1;
      break;
    }
  }
  return call.End(static_cast<ssize_t>(done));
}

}  // namespace
}  // namespace neptune::interpose

using neptune::interpose::BlockingCall;
using neptune::interpose::Descriptor;
using neptune::interpose::FindTracked;
using neptune::interpose::MessageParts;
using neptune::interpose::RealLibc;
using neptune::interpose::Repeat;

ssize_t neptune_read(int fd, void* data, size_t size) {
  const Descriptor* const descriptor = FindTracked(fd);
  if (descriptor == nullptr) return RealLibc().read(fd, data, size);
  if (descriptor->ships()) return neptune::interpose::ReadShipped(fd, data, size);
  return Repeat(fd, POLLIN, [&] { return RealLibc().read(fd, data, size); });
}

ssize_t neptune_readv(int fd, const iovec* parts, int count) {
  const Descriptor* const descriptor = FindTracked(fd);
  if (descriptor != nullptr && descriptor->ships() && count > 0) {
    return neptune::interpose::ReadPartsShipped(fd, parts, static_cast<size_t>(count));
  }
  return Repeat(fd, POLLIN, [&] { return RealLibc().readv(fd, parts, count); });
}

ssize_t neptune_recv(int fd, void* data, size_t size, int flags) {
  return neptune_recvfrom(fd, data, size, flags, nullptr, nullptr);
}

ssize_t neptune_recvfrom(int fd, void* data, size_t size, int flags, sockaddr* from,
                         socklen_t* from_size) {
  const auto receive = [&](size_t done) {
    return RealLibc().recvfrom(fd, static_cast<char*>(data) + done, size - done, flags, from,
                               from_size);
  };
  if (FindTracked(fd) == nullptr || (flags & neptune::interpose::kNeverWaits) != 0) {
    return receive(0);
  }
  if (neptune::interpose::WantsAll(flags)) return neptune::interpose::ReceiveAll(fd, size, receive);
  return Repeat(fd, POLLIN, [&] { return receive(0); });
}

ssize_t neptune_recvmsg(int fd, msghdr* message, int flags) {
  const auto receive = [&] { return RealLibc().recvmsg(fd, message, flags); };
  if (FindTracked(fd) == nullptr || (flags & neptune::interpose::kNeverWaits) != 0)
    return receive();
  if (!neptune::interpose::WantsAll(flags)) return Repeat(fd, POLLIN, receive);
  const size_t size = neptune::interpose::SizeOf(message->msg_iov, message->msg_iovlen);
  return neptune::interpose::ReceiveAll(fd, size, [&](size_t done) {
    if (done == 0) return receive();
    MessageParts rest(message->msg_iov, message->msg_iovlen, done);
    msghdr next{};
    next.msg_iov = rest.data();
    next.msg_iovlen = rest.count();
    return RealLibc().recvmsg(fd, &next, flags);
  });
}

int neptune_recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
  if (FindTracked(fd) == nullptr || (flags & neptune::interpose::kNeverWaits) != 0) {
    return RealLibc().recvmmsg(fd, messages, count, flags, timeout);
  }
  // The timeout is checked only between messages, as recvmmsg(2) documents.
  BlockingCall call(fd, POLLIN);
  unsigned done = 0;
  while (done < count) {
    const int result = RealLibc().recvmmsg(fd, messages + done, count - done, flags, timeout);
    if (result > 0) done += static_cast<unsigned>(result);
    const bool is_enough = result > 0 && ((flags & MSG_WAITFORONE) != 0 || timeout != nullptr);
    if (is_enough || result == 0 || (result > 0 && !(call.parks() && call.Waits()))) break;
    if (result < 0 && !call.WaitToRepeat()) break;
  }
  if (done == 0 && count > 0) return -1;
  return call.End(static_cast<int>(done));
}
