// User-level threads of one loop that wait for one descriptor.
//
// A readiness event wakes all waiters that only look (poll) and the first one that takes (read,
// accept), which wakes the next one once it succeeded. This avoids a thundering herd: a thousand
// threads that wait to accept are not all woken for one connection.
//
// Threads: used on the loop only, except CloseSoon.

#pragma once

#include <cstdint>
#include <memory>

#include "neptune/thread/user_thread.h"
#include "neptune/world/descriptor_readiness.h"

namespace neptune::interpose {

class DescriptorWatch final : public ReadinessWatcher {
 public:
  // One thread's wait, on its stack. It is in the list of its watch from Join to Part.
  class Waiter {
   public:
    enum class Kind { kTakes, kLooks };
    Waiter(UserThread* thread, uint32_t events, Kind kind)
        : thread_(thread), events_(events), kind_(kind) {}

    void Join(std::shared_ptr<DescriptorWatch> watch);
    // Clears the flag; only later events count.
    void Rejoin() { notified_ = watch_->closed_; }
    void Part();
    // True if the descriptor may be ready, or is closed.
    bool notified() const { return notified_; }
    DescriptorWatch& watch() const { return *watch_; }
    uint32_t events() const { return events_; }

   private:
    friend class DescriptorWatch;
    std::shared_ptr<DescriptorWatch> watch_;
    UserThread* const thread_;
    const uint32_t events_;
    const Kind kind_;
    bool notified_ = false;
    Waiter* previous_ = nullptr;
    Waiter* next_ = nullptr;
  };

  DescriptorWatch(Loop& loop, int number) : loop_(loop), number_(number) {}

  void OnReady(uint32_t events) override;
  // Wakes the next taker after one has succeeded, since there may be more.
  void PassOn(uint32_t events);
  // Ends all waits because the descriptor is being closed: at once on its loop, else
  // asynchronously.
  static void CloseSoon(const std::shared_ptr<DescriptorWatch>& watch);

  bool closed() const { return closed_; }
  Loop& loop() const { return loop_; }
  int number() const { return number_; }

 private:
  void Close();
  void Tell(Waiter& waiter);

  Loop& loop_;
  const int number_;
  bool closed_ = false;
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
};

}  // namespace neptune::interpose
