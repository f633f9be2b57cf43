// The runtime inside of an unmodified program: kernel threads with loops, and a place on one of them for each thread
// that the program makes.
//
//   library is loaded     options and capsule file are read; a mistake ends the process
//   first pthread_create  kernel threads are started, capsules made
//   each pthread_create   the kernel thread with the fewest threads gets it
//
// Source: [Chu05] V.A (main working thread pool). Departs from source: a thread stays where it began.
// Threads: thread-safe.
// Limits: kPreloadThreadCountMax threads at once.
// It is never destroyed: the program's threads may run until the process ends.

#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
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
  // Errors: those of the capsule file and of what it names.
  static StatusOr<std::unique_ptr<PreloadRuntime>> Make(PreloadOptions options);

  StatusOr<ThreadScheduler*> Choose() override;
  void Left(ThreadScheduler& scheduler) override;

 private:
  struct Home {
    std::unique_ptr<ThreadScheduler> scheduler;
    std::atomic<int> thread_count{0};
  };

  explicit PreloadRuntime(PreloadOptions options) : options_(std::move(options)) {}

  // Idempotent; the first caller starts the kernel threads, others wait for it. A process that forks before that starts
  // its own in each child.
  Status Start();
  Status MakeCapsules();
  Status StartHome(int index);

  // Every second, on the first home's loop.
  void WriteStatus();

  const PreloadOptions options_;
  std::vector<CapsuleConfig> configs_;
  absl::Mutex start_mutex_;  // held while the kernel threads come up
  std::atomic<bool> started_{false};
  std::unique_ptr<World> world_;
  std::unique_ptr<CapsuleStack> capsules_;
  std::vector<std::unique_ptr<Home>> homes_;
  std::atomic<int> thread_count_{0};
};

}  // namespace neptune::interpose
