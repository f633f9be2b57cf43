// Kernel threads that parse large bodies and posted HTML, so that parsing never blocks a serving
// loop.
//
// Threads: thread-safe; Run on user-level threads of any loop.
// Errors: RESOURCE_EXHAUSTED kHtmlTasksMax tasks are running or queued; DEADLINE_EXCEEDED and
//   CANCELLED (the node is stopping): the task continues and its result is discarded; INTERNAL the
//   task threw an exception, which is counted.
// Limits: kHtmlThreadCount threads, kHtmlTasksMax tasks.

#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/world/world.h"

namespace search::frontend {

inline constexpr int kHtmlThreadCount = 2;
inline constexpr int kHtmlTasksMax = 64;

class HtmlThreads {
 public:
  // The destructor waits for running tasks. `exceptions` counts those of tasks and outlives this;
  // it may be null. REQUIRES: destroyed before the loops that called Run.
  explicit HtmlThreads(neptune::World& world, neptune::Counter* exceptions = nullptr)
      : exceptions_(exceptions), threads_(world.MakeHelperThreads("html", kHtmlThreadCount)) {}

  // Parks until `task` has run; the task must own everything it uses. In the simulated world, which
  // has no kernel threads, the task runs on the calling thread.
  neptune::Status Run(std::function<void()> task, neptune::TimePoint deadline);

 private:
  neptune::Counter* const exceptions_;
  const std::shared_ptr<std::atomic<int>> task_count_ = std::make_shared<std::atomic<int>>(0);
  const std::unique_ptr<neptune::HelperThreads> threads_;
};

}  // namespace search::frontend
