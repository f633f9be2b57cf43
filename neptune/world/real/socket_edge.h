// Conversions between the system's types and the project's; internal to world/real.
//
// Threads: pure functions.

#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string_view>

#include "neptune/base/status.h"
#include "neptune/world/network.h"

namespace neptune {

// An address as the system's calls take it.
class SocketAddress {
 public:
  // Belongs to no endpoint yet; see data.
  SocketAddress() = default;
  explicit SocketAddress(const Endpoint& endpoint) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(endpoint.address);
    address_.sin_port = htons(endpoint.port);
  }

  // The system reads it, or fills it in.
  sockaddr* data() { return reinterpret_cast<sockaddr*>(&address_); }
  const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&address_); }
  static constexpr socklen_t size() { return sizeof(sockaddr_in); }
  // Empty unless it is an IPv4 address.
  Endpoint endpoint() const {
    if (address_.sin_family != AF_INET) return {};
    return {ntohl(address_.sin_addr.s_addr), ntohs(address_.sin_port)};
  }

 private:
  sockaddr_in address_{};
};

// The endpoint that the socket is bound to.
Endpoint LocalOf(int socket);
// Returns false on an error, with errno.
bool SetOption(int socket, int level, int option, int value);

// Returns the error of the system call that just failed. `doing` describes the operation.
Status FromErrno(std::string_view doing);

}  // namespace neptune
