// What a loop waits for: readiness of its sockets, child processes and foreign descriptors, the
// time of its next timer, and calls of other threads. Internal to world/real.
//
//   descriptors ──registered once──┐
//   Wake, of other threads ────────┼─► epoll ─► Notify ─► watchers
//   time to wait ──────────────────┘
//
// One system call waits and returns the events of many descriptors.
//
// Threads: the loop's own; Unwatch and Wake from any thread.
// Limits: at most kEventCountMax descriptors are reported, for kPartOfTurnMax, before the loop's
//   other work gets a turn.

#pragma once

#include <sys/epoll.h>

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "neptune/base/descriptor.h"
#include "neptune/base/time.h"
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

  // Fetches events, unless there are fetched ones. Waits for them until `until` or Wake; the time
  // of an earlier call may end one wait, too.
  void Wait(TimePoint until);
  // The same without waiting.
  void Poll();
  // Reports the fetched events; those that do not fit into this part of the loop's turn are
  // reported by the next call. Returns the number of watchers notified.
  int Notify();
  bool has_fetched_events() const { return next_event_ < event_count_; }
  // Ends a wait, or the next one if there is none.
  void Wake() const;

 private:
  struct Addition {
    int descriptor;
    uint32_t events;
    Watcher* watcher;
  };
  // When the timer expires; kNever: it is not set, or has expired.
  struct TimerWatcher final : public Watcher {
    void OnReady(uint32_t) override { at = kNever; }
    TimePoint at = kNever;
  };
  static constexpr int kEventCountMax = 64;

  // Returns 0 or the error.
  int TryControl(int operation, int descriptor, uint32_t events, Watcher* watcher) const;
  // For operations that need no memory, so that only a bug makes them fail.
  void Control(int operation, int descriptor, uint32_t events, Watcher* watcher) const;
  void AddPending();
  void Fetch(int timeout_ms);
  // Makes the system end a wait at that time, or earlier.
  void SetTimer(TimePoint at);

  RealLoop& loop_;
  const Descriptor poller_;
  // These two are edge-triggered and never read: each wake and each expiry is an event of its own.
  const Descriptor waker_;  // its events have no watcher
  const Descriptor timer_;
  TimerWatcher timer_watcher_;
  std::unordered_map<Watcher*, std::shared_ptr<Watcher>> watchers_;
  std::vector<Addition> adding_;
  std::vector<int> closing_;
  std::array<epoll_event, kEventCountMax> events_{};
  // The entries of events_ that are still to be reported.
  int next_event_ = 0;
  int event_count_ = 0;
};

}  // namespace neptune
