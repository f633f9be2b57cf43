// Calls that make connections.

#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <memory>

#include "neptune/interpose/blocking_call.h"
#include "neptune/interpose/calls.h"

namespace neptune::interpose {
namespace {

// A full local (AF_UNIX) listener cannot be polled for room, so connect retries after this delay.
constexpr Duration kLocalRetryMin = std::chrono::microseconds(100);
constexpr Duration kLocalRetryMax = std::chrono::milliseconds(10);

bool IsLocal(const sockaddr* address, socklen_t size) {
  return address != nullptr && size >= sizeof(address->sa_family) && address->sa_family == AF_UNIX;
}

int ConnectLocal(int fd, const sockaddr* address, socklen_t size, BlockingCall& call) {
  Duration pause = kLocalRetryMin;
  int result = RealLibc().connect(fd, address, size);
  while (result < 0 && errno == EAGAIN && call.parks() && call.Waits()) {
    if (!call.Pause(pause)) return -1;
    pause = std::min(2 * pause, kLocalRetryMax);
    result = RealLibc().connect(fd, address, size);
  }
  return call.End(result);
}

// True once the attempt has succeeded or failed.
bool HasEnded(int fd) {
  pollfd one = {fd, POLLOUT, 0};
  return RealLibc().poll(&one, 1, 0) == 1;
}

int OutcomeOf(int fd, BlockingCall& call) {
  int error = 0;
  socklen_t size = sizeof(error);
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return -1;
  if (error == 0) return call.End(0);
  errno = error;
  return -1;
}

bool IsStream(int fd) {
  int type = 0;
  socklen_t size = sizeof(type);
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

// Target of a connection: the requested one, or the replica that a capsule redirects to.
class Destination {
 public:
  Destination(const sockaddr* address, socklen_t size)
      : address_(address), size_(size), dependency_(DependencyOn(address, size)) {}

  // Asks the capsule. False: the connection is refused; errno has the reason.
  bool Choose() {
    const auto chosen = ChoosePeer(dependency_);
    return chosen != nullptr && (chosen == dependency_ || TurnTo(chosen));
  }

  const sockaddr* address() const { return address_; }
  socklen_t size() const { return size_; }
  const std::shared_ptr<const Dependency>& dependency() const { return dependency_; }

 private:
  bool TurnTo(const std::shared_ptr<const Dependency>& other) {
    if (size_ < sizeof(sockaddr_in) || address_->sa_family != AF_INET) {
      errno = ECONNREFUSED;
      return false;
    }
    other_.sin_family = AF_INET;
    other_.sin_addr.s_addr = htonl(other->address);
    other_.sin_port = htons(other->port);
    address_ = reinterpret_cast<const sockaddr*>(&other_);
    size_ = sizeof(other_);
    dependency_ = other;
    return true;
  }

  const sockaddr* address_;
  socklen_t size_;
  std::shared_ptr<const Dependency> dependency_;
  sockaddr_in other_{};
};

int ConnectTo(const Destination& peer, int fd) {
  BlockingCall call(fd, POLLOUT);
  if (IsLocal(peer.address(), peer.size())) {
    return ConnectLocal(fd, peer.address(), peer.size(), call);
  }
  const int result = RealLibc().connect(fd, peer.address(), peer.size());
  if (result == 0 || errno != EINPROGRESS || !call.parks() || !call.Waits()) return result;
  while (!HasEnded(fd)) {
    if (call.Wait()) continue;
    if (errno == EAGAIN) errno = EINPROGRESS;  // as socket(7) says of SO_SNDTIMEO
    return -1;
  }
  return OutcomeOf(fd, call);
}

int Connect(int fd, const sockaddr* address, socklen_t size) {
  Descriptor* const descriptor = FindTracked(fd);
  const auto file = descriptor == nullptr ? nullptr : descriptor->file();
  Destination peer(address, size);
  // A later call only returns the result of the first one.
  const bool is_first = file != nullptr && file->dependency() == nullptr;
  if (is_first && ParkingThread() != nullptr && IsStream(fd) && !peer.Choose()) return -1;
  if (file != nullptr) file->SetDependency(peer.dependency());
  return ConnectTo(peer, fd);
}

// An accepted socket inherits the timeouts of its listener.
void TrackAccepted(int listener, int accepted, int flags) {
  Descriptor* const descriptor = FindTracked(listener);
  const auto from = descriptor == nullptr ? nullptr : descriptor->file();
  auto file = std::make_shared<OpenFile>();
  file->nonblocking = (flags & SOCK_NONBLOCK) != 0;
  if (from != nullptr) {
    file->receive_timeout = from->receive_timeout.load();
    file->send_timeout = from->send_timeout.load();
  }
  Track(accepted, std::move(file));
}

}  // namespace
}  // namespace neptune::interpose

using neptune::interpose::FindTracked;
using neptune::interpose::RealLibc;

int neptune_connect(int fd, const sockaddr* address, socklen_t size) {
  if (FindTracked(fd) == nullptr) return RealLibc().connect(fd, address, size);
  return neptune::interpose::Connect(fd, address, size);
}

int neptune_accept(int fd, sockaddr* address, socklen_t* size) {
  return neptune_accept4(fd, address, size, 0);
}

int neptune_accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  const int accepted = neptune::interpose::Repeat(
      fd, POLLIN, [&] { return RealLibc().accept4(fd, address, size, flags); });
  if (accepted >= 0 && neptune::interpose::TracksHere()) {
    neptune::interpose::TrackAccepted(fd, accepted, flags);
  }
  return accepted;
}
