// Non-blocking client sockets to a server on the loopback interface.
//
// Threads: pure functions; OpenIdle blocks.
// Errors: -1, with errno.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace search::tools {

// Begins a connection to 127.0.0.1:port. An error of a connection that is under way shows at the
// first write or read.
int BeginConnection(uint16_t port);

// Raises this process's limit of descriptors as far as the system lets it, to `count` if it can.
void AllowDescriptors(size_t count);

// Connections that stay open and say nothing. The sources are 127.0.0.2 and following addresses,
// because one address has too few ports.
class IdleConnections {
 public:
  IdleConnections(uint16_t port, size_t count);
  ~IdleConnections();
  IdleConnections(const IdleConnections&) = delete;
  IdleConnections& operator=(const IdleConnections&) = delete;

  size_t opened_count() const { return sockets_.size(); }
  // Those that the server has not closed.
  size_t CountAlive() const;

 private:
  std::vector<int> sockets_;
};

}  // namespace search::tools
