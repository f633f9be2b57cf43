// Readiness of one loop's TCP sockets, child processes and foreign descriptors; internal to
// world/real.
//
// Asio's reactor needs a system call for each wait. Here a descriptor is registered once, in a
// separate epoll instance that Asio's reactor watches as one more descriptor; one call then returns
// the events of many descriptors.
//
// Threads: the loop's own; Unwatch from any thread.
// Limits: at most kEventCountMax descriptors are reported, for kPartOfTurnMax, before the loop's
//   other events get a turn.

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
  // The owner of a descriptor, kept alive until Forget. It receives EPOLLIN, EPOLLOUT and so on,
  // which are poll(2)'s bits.
  using Watcher = ReadinessWatcher;

  explicit DescriptorPoller(RealLoop& loop);
  ~DescriptorPoller() override;

  Status Watch(int descriptor, std::shared_ptr<ReadinessWatcher> watcher) override;
  void Unwatch(int descriptor, std::shared_ptr<ReadinessWatcher> watcher) override;

  // Registers `watcher` for `events`; with EPOLLET it is notified of new events only. Errors:
  // kResourceExhausted the system has no memory or room for another watched descriptor.
  Status Add(int descriptor, uint32_t events, std::shared_ptr<Watcher> watcher);
  // Like Add, but registers after the turn's output has been sent, because peers wait for the
  // output. An error is reported by OnRefused.
  void AddAtEndOfTurn(int descriptor, uint32_t events, std::shared_ptr<Watcher> watcher);
  // Changes the events; those that are already pending are reported again.
  void Change(int descriptor, uint32_t events, Watcher* watcher);
  // Stops notifications; the descriptor stays open.
  void Remove(int descriptor, Watcher* watcher);
  // Ends the events of a descriptor that is about to be closed. Its watcher stays until Forget;
  // nothing happens if it has none.
  void Silence(int descriptor);
  // Stops notifications. The descriptor is closed at the end of the turn, after the turn's output
  // has been sent.
  void Close(int descriptor, Watcher* watcher);
  // Stops notifications; the caller must close the descriptor before the turn ends.
  void Forget(Watcher* watcher);

  // Called after the loop has run what was ready and before it waits.
  void EndTurn();

  // Reports the events that are ready now, with one system call instead of three. Returns false if
  // there are none, or if polling is skipped because recent calls found none. Events that do not
  // fit into this part of the loop's turn are reported by the next call.
  bool NotifyAgain();
  bool has_fetched_events() const { return next_event_ < event_count_; }

 private:
  struct Addition {
    int descriptor;
    uint32_t events;
    Watcher* watcher;
  };
  static constexpr int kEventCountMax = 64;
  // Number of NotifyAgain calls that skip polling after a poll found nothing.
  static constexpr int kQuietTurnCount = 15;

  // Returns 0 or the error.
  int TryControl(int operation, int descriptor, uint32_t events, Watcher* watcher);
  // For operations that need no memory, so that only a bug makes them fail.
  void Control(int operation, int descriptor, uint32_t events, Watcher* watcher);
  void AddPending();
  void Wait();
  // Returns the number of watchers notified.
  int NotifyWatchers();

  RealLoop& loop_;
  // Bound to the loop's own executor type: any_io_executor would add indirect calls at each turn.
  boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type> poller_;
  std::unordered_map<Watcher*, std::shared_ptr<Watcher>> watchers_;
  std::vector<Addition> adding_;
  std::vector<int> closing_;
  std::array<epoll_event, kEventCountMax> events_{};
  // The entries of events_ that are still to be reported.
  int next_event_ = 0;
  int event_count_ = 0;
  bool waiting_ = false;
  int quiet_turns_ = 0;
};

}  // namespace neptune
