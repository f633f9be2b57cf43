// A dependency that does not answer until it is released: a peer, a FIFO, a port that never
// accepts, a name server. Ask uses only blocking calls of the C library, like a client library.
//
// Threads: Ask on any thread, several at once; the rest on one plain kernel thread, LetGo once.
// Errors: Ask returns kUnavailable with the failed call and its cause.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "neptune/base/status.h"

namespace search::lab {

class SilentDependency {
 public:
  virtual ~SilentDependency() = default;
  // Blocks until the dependency is released.
  virtual neptune::Status Ask() = 0;
  // Releases it: answers the `count` waiting calls, and all later ones.
  virtual void LetGo(int count) = 0;
  // The rule of a capsule for the calls that wait for it.
  virtual std::string Rule() const = 0;
};

// A peer that accepts connections and sends nothing.
neptune::StatusOr<std::unique_ptr<SilentDependency>> MakeSilentPeer();
// A FIFO without a writer, in a folder of its own.
neptune::StatusOr<std::unique_ptr<SilentDependency>> MakeSilentFifo();
// A port whose connections are never established: its accept queue is full, so that the system
// drops SYN packets, which are retransmitted after 1, 3, 7 s.
neptune::StatusOr<std::unique_ptr<SilentDependency>> MakeFullListener();
// A name server that receives queries and sends nothing. Threads use it after UseNameServer.
neptune::StatusOr<std::unique_ptr<SilentDependency>> MakeSilentNameServer(uint16_t* port);
// Sets the name server of the calling kernel thread's resolver to 127.0.0.1:port.
void UseNameServer(uint16_t port);

}  // namespace search::lab
