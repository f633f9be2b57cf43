// Reserves a port number on this machine: no other program gets it while this object lives, in
// whatever namespace that program runs (process numbers repeat across namespaces).
//
// Tests and experiments with real clusters use it for names and multicast ports. A program that
// only needs a free port number constructs and destroys one at once.
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
