// The runtime inside an unmodified program: kernel threads with loops, which run the threads that
// the program creates.
//
//   library is loaded     reads options and capsule file; an error ends the process
//   first pthread_create  starts kernel threads, creates capsules
//   each pthread_create   assigns the thread to the kernel thread with the fewest threads
//
// Source: [Chu05] V.A (main working thread pool). Departs from source: a thread never changes its
//   kernel thread.
// Threads: thread-safe.
// Limits: kPreloadThreadCountMax threads at a time.
// The runtime is never destroyed, because the program's threads may run until the process ends.

#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/blocking_mutex.h"
#include "neptune/base/status.h"
#include "neptune/capsule/capsule_config.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/interpose/preload/options.h"
#include "neptune/interpose/pthread/thread.h"
#include "neptune/world/world.h"

namespace neptune::interpose {

inline constexpr int kPreloadThreadCountMax = 1'000'000;

class PreloadRuntime final : public ThreadHome {
 public:
  // Errors: those of the capsule file and of the plug-ins that it names.
  static StatusOr<std::unique_ptr<PreloadRuntime>> Make(PreloadOptions options);

  StatusOr<ThreadScheduler*> Choose() override;
  void Left(ThreadScheduler& scheduler) override;

 private:
  struct Home {
    std::unique_ptr<ThreadScheduler> scheduler;
    std::atomic<int> thread_count{0};
  };

  explicit PreloadRuntime(PreloadOptions options) : options_(std::move(options)) {}

  // Idempotent; the first caller starts the kernel threads, others wait for it. If a process forks
  // before that, each child starts its own.
  Status Start();
  Status MakeCapsules();
  Status StartHome(int index);

  // Runs every second on the first home's loop.
  void WriteStatus();

  const PreloadOptions options_;
  std::vector<CapsuleConfig> configs_;
  BlockingMutex start_mutex_;  // held while the kernel threads start
  std::atomic<bool> started_{false};
  std::unique_ptr<World> world_;
  std::unique_ptr<CapsuleStack> capsules_;
  std::vector<std::unique_ptr<Home>> homes_;
  std::atomic<int> thread_count_{0};
};

}  // namespace neptune::interpose
