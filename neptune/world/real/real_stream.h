// A TCP connection on one loop; internal to world/real.
//
// Threads: the loop's own.

#pragma once

#include <memory>

#include "neptune/world/network.h"

namespace neptune {

class RealLoop;

// A non-blocking socket without any registration.
struct ConnectedSocket {
  int socket;
  Endpoint peer;
  // True if this side accepted the connection; the peer's first bytes may then be there already.
  bool accepted;
};

// Makes a stream over a connected socket and takes ownership of the socket.
std::unique_ptr<Stream> MakeRealStream(RealLoop& loop, const ConnectedSocket& from);

}  // namespace neptune
