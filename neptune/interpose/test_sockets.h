// Sockets for tests.
//
// Threads: any; descriptors opened on user-level threads are interposed.

#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "neptune/thread/user_thread.h"

namespace neptune::interpose {

// Both ends of a local connection.
struct Pair {
  Pair() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0); }
  ~Pair() {
    for (const int end : ends) close(end);
  }
  int ends[2] = {-1, -1};
};

inline timeval Millis(int count) { return {count / 1000, count % 1000 * 1000}; }

// Yields repeatedly, so that every ready thread runs until it parks.
inline void LetOthersRun() {
  for (int i = 0; i < 20; ++i) this_thread::Yield();
}

inline sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

inline const sockaddr* Plain(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// A listening socket on a free loopback port.
inline int ListenAnywhere(sockaddr_in* address, int backlog = 64) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  *address = Loopback(0);
  socklen_t size = sizeof(*address);
  EXPECT_EQ(bind(listener, Plain(*address), size), 0);
  EXPECT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(address), &size), 0);
  EXPECT_EQ(listen(listener, backlog), 0);
  return listener;
}

}  // namespace neptune::interpose
