// Which host names the addresses were resolved from, so that rules on names take connections to addresses.
//
// Threads: thread-safe.
// Limits: the newest kResolvedNameCountMax addresses; of one that several names resolve to the newest name.

#pragma once

#include <netdb.h>
#include <sys/socket.h>

#include <cstddef>
#include <string>

namespace neptune::interpose {

inline constexpr size_t kResolvedNameCountMax = 4096;

class ResolvedNames {
 public:
  // `name` was resolved to all of these.
  static void Note(const char* name, const addrinfo* addresses);
  // The name of an address; empty: it is not known.
  static std::string Of(const sockaddr* address, socklen_t size);
};

}  // namespace neptune::interpose
