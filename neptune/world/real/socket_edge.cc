#include "neptune/world/real/socket_edge.h"

#include <cerrno>
#include <system_error>

#include "neptune/base/strings.h"

namespace neptune {

Endpoint LocalOf(int socket) {
  SocketAddress address;
  socklen_t size = SocketAddress::size();
  if (getsockname(socket, address.data(), &size) != 0) return {};
  return address.endpoint();
}

bool SetOption(int socket, int level, int option, int value) {
  return setsockopt(socket, level, option, &value, sizeof(value)) == 0;
}

Status FromErrno(std::string_view doing) {
  const int error = errno;
  const std::string reason = std::generic_category().message(error);
  switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
      return ResourceExhausted(doing, ": ", reason);
    case ETIMEDOUT:
      return DeadlineExceeded(doing, ": ", reason);
    case EADDRINUSE:
    case EADDRNOTAVAIL:
    case EACCES:
    case EINVAL:
      return InvalidArgument(doing, ": ", reason);
    default:
      return Unavailable(doing, ": ", reason);
  }
}

}  // namespace neptune
