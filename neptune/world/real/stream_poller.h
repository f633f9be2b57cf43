// Readiness of one loop's connections; internal to world/real.
//
// Asio's reactor wants a system call for each wait. Here a connection is registered once, for both directions and
// edge-triggered, in a poller of its own, which Asio's reactor watches as one more descriptor: what is asked for is
// then told many connections at a time.
//
// Layer: world. Threads: the loop's own.
// Limits: kEventCountMax connections are told before the loop's other events get a turn.

#pragma once

#include <sys/epoll.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <unordered_map>

namespace neptune {

class RealLoop;

class StreamPoller {
 public:
  // A connection. It is kept alive until it is forgotten.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    // What changed since the last call: EPOLLIN, EPOLLOUT and so on. What was there before is not told again.
    virtual void OnReady(uint32_t events) = 0;
  };

  explicit StreamPoller(RealLoop& loop);

  void Add(int descriptor, std::shared_ptr<Watcher> watcher);
  // It is told nothing any more. The system forgets it when its descriptor is closed.
  void Forget(Watcher* watcher);

 private:
  static constexpr int kEventCountMax = 64;

  void Wait();
  void Tell();

  RealLoop& loop_;
  boost::asio::posix::stream_descriptor poller_;
  std::unordered_map<Watcher*, std::shared_ptr<Watcher>> watchers_;
  std::array<epoll_event, kEventCountMax> events_{};
  int event_count_ = 0;  // of events_, while they are told
  bool waiting_ = false;
};

}  // namespace neptune
