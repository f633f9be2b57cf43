// A TCP connection on one loop; internal to world/real.
//
// Threads: the loop's own.

#pragma once

#include <memory>

#include "neptune/world/network.h"

namespace neptune {

class RealLoop;

// A socket that does not block, with nothing registered for it.
struct ConnectedSocket {
  int socket;
  Endpoint peer;
  // By this side. Then what the peer sent at once is there already.
  bool accepted;
};

// A stream over a connected socket, which it owns from now on.
std::unique_ptr<Stream> MakeRealStream(RealLoop& loop, const ConnectedSocket& from);

}  // namespace neptune
