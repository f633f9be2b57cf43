// Runs functions on user-level threads of real loops, for tests and benchmarks.
//
// Threads: used on one plain kernel thread.

#pragma once

#include <glog/logging.h>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "neptune/base/notification.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/real/real_world.h"

namespace neptune::interpose {

class UserThreads {
 public:
  explicit UserThreads(int loop_count = 1, const ThreadSchedulerOptions& options = {})
      : world_(MakeRealWorld({})) {
    for (int i = 0; i < loop_count; ++i) {
      loops_.push_back(*world_->StartLoop({.name = "loop"}));
      OnLoop(i, [&] {
        schedulers_.push_back(std::make_unique<ThreadScheduler>(*loops_.back(), options));
      });
    }
  }
  ~UserThreads() {
    for (size_t i = 0; i < loops_.size(); ++i) {
      OnLoop(i, [&] { schedulers_[i]->Stop(); });
      // Stopped threads finish in the following turns.
      while (LiveCount(i) > 0) OnLoop(i, [] {});
    }
    world_->Stop();
  }

  World& world() { return *world_; }
  ThreadScheduler& scheduler(size_t loop = 0) { return *schedulers_[loop]; }

  // Runs `work` as an event of the loop and waits for it.
  void OnLoop(size_t loop, const std::function<void()>& work) {
    Notification done;
    loops_[loop]->Post([&] {
      work();
      done.Notify();
    });
    done.WaitForNotification();
  }
  size_t LiveCount(size_t loop) {
    size_t count = 0;
    OnLoop(loop, [&] { count = schedulers_[loop]->live_count(); });
    return count;
  }

  // Starts a thread on the loop; Wait waits for it.
  void Start(size_t loop, std::function<void()> body) {
    ++running_count_;
    OnLoop(loop, [&] {
      CHECK(schedulers_[loop]
                ->Spawn([this, body = std::move(body)] {
                  body();
                  if (--running_count_ == 0) all_done_->Notify();
                })
                .ok());
    });
  }
  // Waits until all started threads have returned. REQUIRES: at least one was started, and no other
  // is started meanwhile.
  void Wait() {
    if (--running_count_ > 0) all_done_->WaitForNotification();
    all_done_ = std::make_unique<Notification>();
    running_count_ = 1;
  }
  // Runs each body on a thread of the first loop and waits for all.
  void Run(std::vector<std::function<void()>> bodies) {
    for (auto& body : bodies) Start(0, std::move(body));
    Wait();
  }

 private:
  const std::unique_ptr<World> world_;
  std::vector<Loop*> loops_;
  std::vector<std::unique_ptr<ThreadScheduler>> schedulers_;
  // Number of running threads, plus one for the caller while it starts them.
  std::atomic<int> running_count_{1};
  std::unique_ptr<Notification> all_done_ = std::make_unique<Notification>();
};

}  // namespace neptune::interpose
