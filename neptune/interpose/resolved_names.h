// Remembers the host names that addresses were resolved from, so that rules with names match
// connections to addresses.
//
// Threads: thread-safe.
// Limits: the newest kResolvedNameCountMax addresses; the newest name of each.

#pragma once

#include <netdb.h>
#include <sys/socket.h>

#include <cstddef>
#include <string>

namespace neptune::interpose {

inline constexpr size_t kResolvedNameCountMax = 4096;

class ResolvedNames {
 public:
  // Records that `name` was resolved to all of these addresses.
  static void Note(const char* name, const addrinfo* addresses);
  // The name of an address; empty: not known.
  static std::string Of(const sockaddr* address, socklen_t size);
};

}  // namespace neptune::interpose
