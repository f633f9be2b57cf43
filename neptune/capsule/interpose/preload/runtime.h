// The runtime inside of an unmodified program: kernel threads with loops, and a place on one of them for each thread
// that the program makes.
//
//   library is loaded     options and capsule file are read; a mistake ends the process
//   first pthread_create  kernel threads are started
//   each pthread_create   the kernel thread with the fewest threads gets it
//
// Source: dependency capsules V.A (main working thread pool). Departs from source: a thread stays where it began.
// Layer: capsule.
// Threads: thread-safe.
// Limits: kPreloadThreadCountMax threads at once.
// It is never destroyed: the program's threads may run until the process ends.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "neptune/base/status.h"
#include "neptune/capsule/interpose/preload/options.h"
#include "neptune/capsule/interpose/pthread/thread.h"
#include "neptune/world/world.h"

namespace neptune::interpose {

inline constexpr int kPreloadThreadCountMax = 1'000'000;

class PreloadRuntime final : public ThreadHome {
 public:
  explicit PreloadRuntime(PreloadOptions options);

  StatusOr<ThreadScheduler*> Choose() override;
  void Left(ThreadScheduler& scheduler) override;

 private:
  struct Home {
    std::unique_ptr<ThreadScheduler> scheduler;
    std::atomic<int> thread_count{0};
  };

  // Idempotent; the first caller starts the kernel threads, others wait for it.
  Status Start();
  Status StartHome(int index);

  const PreloadOptions options_;
  absl::Mutex start_mutex_;  // held while the kernel threads come up
  std::atomic<bool> started_{false};
  std::unique_ptr<World> world_;
  std::vector<std::unique_ptr<Home>> homes_;
  std::atomic<int> thread_count_{0};
};

}  // namespace neptune::interpose
