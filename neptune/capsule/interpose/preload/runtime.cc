#include "neptune/capsule/interpose/preload/runtime.h"

#include <glog/logging.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "neptune/base/notification.h"
#include "neptune/capsule/interpose/blocking_call.h"
#include "neptune/capsule/interpose/preload/call_names.h"
#include "neptune/capsule/interpose/pthread/process.h"
#include "neptune/capsule/interpose/pthread/signal.h"
#include "neptune/world/real/real_world.h"

namespace neptune::interpose {

PreloadRuntime::PreloadRuntime(PreloadOptions options) : options_(std::move(options)) {}

Status PreloadRuntime::Start() {
  if (started_.load(std::memory_order_acquire)) return OkStatus();
  const RuntimeThreadsScope threads_are_the_runtimes;
  absl::MutexLock lock(&start_mutex_);
  if (started_.load(std::memory_order_relaxed)) return OkStatus();
  if (world_ == nullptr) world_ = MakeRealWorldOver({}, nullptr);
  while (static_cast<int>(homes_.size()) < options_.kernel_thread_count) {
    NEPTUNE_RETURN_IF_ERROR(StartHome(static_cast<int>(homes_.size())));
  }
  started_.store(true, std::memory_order_release);
  return OkStatus();
}

Status PreloadRuntime::StartHome(int index) {
  NEPTUNE_ASSIGN_OR_RETURN(Loop* const loop,
                           world_->StartLoop({.name = StrCat("neptune-", index)}));
  auto home = std::make_unique<Home>();
  Notification made;
  loop->Post([&] {
    LetRaisedSignalsThrough();
    const ThreadSchedulerOptions options{.thread_count_max = kPreloadThreadCountMax};
    home->scheduler = std::make_unique<ThreadScheduler>(*loop, options);
    made.Notify();
  });
  made.WaitForNotification();
  homes_.push_back(std::move(home));
  return OkStatus();
}

StatusOr<ThreadScheduler*> PreloadRuntime::Choose() {
  NEPTUNE_RETURN_IF_ERROR(Start());
  if (thread_count_.fetch_add(1) >= kPreloadThreadCountMax) {
    --thread_count_;
    return ResourceExhausted("starting a thread: ", kPreloadThreadCountMax, " threads run");
  }
  Home* least = homes_.front().get();
  for (const auto& home : homes_) {
    if (home->thread_count < least->thread_count) least = home.get();
  }
  ++least->thread_count;
  return least->scheduler.get();
}

void PreloadRuntime::Left(ThreadScheduler& scheduler) {
  for (const auto& home : homes_) {
    if (home->scheduler.get() == &scheduler) --home->thread_count;
  }
  --thread_count_;
}

namespace {

Status StartPreload() {
  NEPTUNE_ASSIGN_OR_RETURN(
      PreloadOptions options,
      ReadPreloadOptions([](const char* name) { return std::getenv(name); },
                         static_cast<int>(std::thread::hardware_concurrency())));
  SetThreadHome(new PreloadRuntime(std::move(options)));
  TrackEverywhere();  // one thread accepts, another one serves
  return OkStatus();
}

}  // namespace
}  // namespace neptune::interpose

// Called once, before the program's main. 0, or the reason stands on the standard error output.
NEPTUNE_PRELOAD_CALL int neptune_preload_start() {
  const neptune::Status status = neptune::interpose::StartPreload();
  if (status.ok()) return 0;
  std::fprintf(stderr, "neptune: %s\n", std::string(status.message()).c_str());
  return 1;
}
