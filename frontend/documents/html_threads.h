// Kernel threads on which posted HTML is read, so that no loop that serves waits for a parser.
//
// Threads: thread-safe; Run on user-level threads of any loop.
// Errors: RESOURCE_EXHAUSTED kHtmlTasksMax are under way or wait; DEADLINE_EXCEEDED and CANCELLED (the node stops): the
//   task goes on by itself, and what it finds is thrown away.
// Limits: kHtmlThreadCount threads, kHtmlTasksMax tasks.

#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "neptune/base/status.h"
#include "neptune/world/world.h"

namespace search::frontend {

inline constexpr int kHtmlThreadCount = 2;
inline constexpr int kHtmlTasksMax = 64;

class HtmlThreads {
 public:
  // REQUIRES: it is destroyed before the loops on which Run was called; that waits for tasks that run.
  explicit HtmlThreads(neptune::World& world)
      : threads_(world.MakeHelperThreads("html", kHtmlThreadCount)) {}

  // Parks until `task`, which owns what it uses, has run. In the simulated world, which has no such threads, it runs here.
  neptune::Status Run(std::function<void()> task, neptune::TimePoint deadline);

 private:
  const std::shared_ptr<std::atomic<int>> task_count_ = std::make_shared<std::atomic<int>>(0);
  const std::unique_ptr<neptune::HelperThreads> threads_;
};

}  // namespace search::frontend
