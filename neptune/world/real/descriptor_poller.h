// Readiness of one loop's TCP sockets, of its child processes, and of descriptors that others opened; internal to
// world/real.
//
// Asio's reactor wants a system call for each wait. Here a descriptor is registered once for what it waits for, in a
// poller of its own, which Asio's reactor watches as one more descriptor: what is asked for is then told of many
// descriptors at a time.
//
// Threads: the loop's own; Unwatch any.
// Limits: kEventCountMax descriptors are told of before the loop's other events get a turn.

#pragma once

#include <sys/epoll.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <unordered_map>
#include <vector>

#include "neptune/world/descriptor_readiness.h"

namespace neptune {

class RealLoop;

class DescriptorPoller final : public DescriptorReadiness {
 public:
  // A descriptor's owner. It is kept alive until it is forgotten. Told of EPOLLIN, EPOLLOUT and so on, which are
  // poll(2)'s bits.
  using Watcher = ReadinessWatcher;

  explicit DescriptorPoller(RealLoop& loop);
  ~DescriptorPoller() override;

  Status Watch(int descriptor, std::shared_ptr<ReadinessWatcher> watcher) override;
  void Unwatch(int descriptor, std::shared_ptr<ReadinessWatcher> watcher) override;

  // Tells `watcher` of `events`; with EPOLLET only of what was not told before.
  void Add(int descriptor, uint32_t events, std::shared_ptr<Watcher> watcher);
  // The same, once what the turn has to say has left: others wait for that, and not for this.
  void AddAtEndOfTurn(int descriptor, uint32_t events, std::shared_ptr<Watcher> watcher);
  // What is there already is told again.
  void Change(int descriptor, uint32_t events, Watcher* watcher);
  // It is told nothing any more; the descriptor stays open.
  void Remove(int descriptor, Watcher* watcher);
  // It is told nothing any more; the descriptor is closed at the end of the turn: what others wait for goes first.
  void Close(int descriptor, Watcher* watcher);
  // It is told nothing any more; the caller closes its descriptor before the turn ends.
  void Forget(Watcher* watcher);

  // Once the loop has run what was ready, and before it waits.
  void EndTurn();

  // Tells what has become ready by now, at one system call instead of three; false: nothing has, or too little lately to
  // be worth asking.
  bool TellAgain();

 private:
  struct Addition {
    int descriptor;
    uint32_t events;
    Watcher* watcher;
  };
  struct Closing {
    int descriptor;
    bool is_registered;
  };
  static constexpr int kEventCountMax = 64;
  // How often TellAgain does not ask after it has asked in vain.
  static constexpr int kQuietTurnCount = 15;

  void Control(int operation, int descriptor, uint32_t events, Watcher* watcher);
  void Wait();
  // Returns how many were told.
  int Tell();

  RealLoop& loop_;
  // Of the loop's own executor: one of any type would be asked through pointers at each turn.
  boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type> poller_;
  std::unordered_map<Watcher*, std::shared_ptr<Watcher>> watchers_;
  std::vector<Addition> adding_;
  std::vector<Closing> closing_;
  std::array<epoll_event, kEventCountMax> events_{};
  int event_count_ = 0;  // of events_, while they are told
  bool waiting_ = false;
  int quiet_turns_ = 0;
};

}  // namespace neptune
