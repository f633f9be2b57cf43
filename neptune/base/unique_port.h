// A port number that no other program on this machine is given while this object lives, whatever namespace it runs in:
// process numbers repeat there. For the names and multicast ports of real clusters in tests and experiments, and, given
// up at once, for programs that want to be told a free port.
//
// Threads: immutable after construction.

#pragma once

#include <arpa/inet.h>
#include <glog/logging.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

namespace neptune {

class UniquePort {
 public:
  UniquePort() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    PCHECK(socket_ >= 0 && bind(socket_, generic, size) == 0 &&
           getsockname(socket_, generic, &size) == 0);
    number_ = ntohs(address.sin_port);
  }
  ~UniquePort() { close(socket_); }
  UniquePort(const UniquePort&) = delete;
  UniquePort& operator=(const UniquePort&) = delete;

  uint16_t number() const { return number_; }

 private:
  const int socket_;
  uint16_t number_ = 0;
};

}  // namespace neptune
