// Base of tests whose code waits: user-level threads on the one loop of a simulated host.
//
// A test whose threads still wait at its end, and refer to its members, calls StopThreads in its
// destructor, because its members are destroyed before this object.
//
// Threads: the test's thread, which runs the simulation.
// Errors: a thread that does not start, or a body that does not end, fails the test.

#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "neptune/thread/user_thread.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {

class SimulatedThreads : public testing::Test {
 protected:
  SimulatedThreads() {
    OnLoop([this] { threads_ = std::make_unique<ThreadScheduler>(loop_); });
  }
  ~SimulatedThreads() override { StopThreads(); }

  // Ends all waits. Idempotent.
  void StopThreads() {
    OnLoop([this] { threads_->Stop(); });
  }
  // Runs `task` on the loop at once.
  void OnLoop(Task task) {
    loop_.Post(std::move(task));
    simulator_.RunFor(Duration(1));
  }
  // Starts a user-level thread with the next event of the loop.
  void Spawn(Task body) {
    loop_.Post([this, body = std::move(body)]() mutable {
      ASSERT_TRUE(threads_->Spawn(std::move(body)).ok());
    });
  }
  // Runs each body on a user-level thread, all started at once, until they have ended.
  void Run(const std::vector<std::function<void()>>& bodies) {
    size_t running = bodies.size();
    for (const auto& body : bodies) {
      Spawn([&running, body] {
        body();
        --running;
      });
    }
    EXPECT_TRUE(simulator_.RunUntilTrue([&] { return running == 0; },
                                        simulator_.now() + std::chrono::seconds(10)));
  }
  void Run(const std::function<void()>& body) { Run(std::vector<std::function<void()>>{body}); }

  Simulator simulator_{1};
  SimWorld& world_ = simulator_.AddHost({.name = "n"});
  Loop& loop_ = **world_.StartLoop({.name = "main"});
  std::unique_ptr<ThreadScheduler> threads_;
};

}  // namespace neptune
