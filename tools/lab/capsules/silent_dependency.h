// What does not answer until it is let go: a peer, a FIFO, an address that nobody accepts at, a name server. Asked by
// blocking calls of the C library alone, as a client library would.
//
// Threads: Ask on any thread, several at once; the rest on one plain kernel thread, LetGo once.
// Errors: Ask: kUnavailable the call that failed, and why.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "neptune/base/status.h"

namespace search::lab {

class SilentDependency {
 public:
  virtual ~SilentDependency() = default;
  // Returns once it is let go.
  virtual neptune::Status Ask() = 0;
  // Answers the `count` that wait, and those that ask later.
  virtual void LetGo(int count) = 0;
  // The rule of a capsule that takes what waits for it.
  virtual std::string Rule() const = 0;
};

// A peer that accepts connections and says nothing.
neptune::StatusOr<std::unique_ptr<SilentDependency>> MakeSilentPeer();
// A FIFO that nobody writes to, in a folder of its own.
neptune::StatusOr<std::unique_ptr<SilentDependency>> MakeSilentFifo();
// A port whose connections are never made: its queue of those that nobody has accepted is full, so that the system drops
// what arrives. They are tried again after 1, 3, 7 s.
neptune::StatusOr<std::unique_ptr<SilentDependency>> MakeFullListener();
// A name server that takes questions and says nothing. Threads that resolve names ask it after UseNameServer.
neptune::StatusOr<std::unique_ptr<SilentDependency>> MakeSilentNameServer(uint16_t* port);
// The calling kernel thread's resolver asks 127.0.0.1:port from now on.
void UseNameServer(uint16_t port);

}  // namespace search::lab
