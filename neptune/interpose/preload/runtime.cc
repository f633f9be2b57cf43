#include "neptune/interpose/preload/runtime.h"

#include <glog/logging.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_text.h"
#include "neptune/interpose/blocking_call.h"
#include "neptune/interpose/call_permit.h"
#include "neptune/interpose/preload/call_names.h"
#include "neptune/interpose/preload/status_text.h"
#include "neptune/interpose/pthread/process.h"
#include "neptune/interpose/pthread/signal.h"
#include "neptune/world/real/real_world.h"

namespace neptune::interpose {

namespace {

constexpr Duration kStatusPeriod = std::chrono::seconds(1);

void Tell(std::string_view text) {
  std::fprintf(stderr, "neptune: %.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace

StatusOr<std::unique_ptr<PreloadRuntime>> PreloadRuntime::Make(PreloadOptions options) {
  std::unique_ptr<PreloadRuntime> runtime(new PreloadRuntime(std::move(options)));
  std::vector<std::string> warnings;
  NEPTUNE_ASSIGN_OR_RETURN(runtime->configs_,
                           LoadCapsuleFile(runtime->options_.capsule_file, &warnings));
  for (const std::string& warning : warnings) Tell("warning: " + warning);
  // Creates the capsules once now, to report errors here and not when the first thread is started.
  CapsuleStack trial;
  NEPTUNE_RETURN_IF_ERROR(Annotate(trial.Load(runtime->configs_), runtime->options_.capsule_file));
  return runtime;
}

Status PreloadRuntime::Start() {
  if (started_.load(std::memory_order_acquire)) return OkStatus();
  const RuntimeThreadsScope threads_are_the_runtimes;
  BlockingLock lock(&start_mutex_);
  if (started_.load(std::memory_order_relaxed)) return OkStatus();
  if (world_ == nullptr) world_ = MakeRealWorldOver({}, nullptr);
  if (capsules_ == nullptr) NEPTUNE_RETURN_IF_ERROR(MakeCapsules());
  while (static_cast<int>(homes_.size()) < options_.kernel_thread_count) {
    NEPTUNE_RETURN_IF_ERROR(StartHome(static_cast<int>(homes_.size())));
  }
  if (!options_.status_file.empty()) {
    homes_.front()->scheduler->loop().Post([this] { WriteStatus(); });
  }
  started_.store(true, std::memory_order_release);
  return OkStatus();
}

Status PreloadRuntime::MakeCapsules() {
  auto capsules = std::make_unique<CapsuleStack>(
      CapsuleStackOptions{.make_helpers = [this](const std::string& name, int count) {
        return world_->MakeHelperThreads(name, count);
      }});
  NEPTUNE_RETURN_IF_ERROR(capsules->Load(configs_));
  capsules_ = std::move(capsules);
  UseCapsules(capsules_.get());
  return OkStatus();
}

// Replaces the file atomically, so readers see a complete table.
void PreloadRuntime::WriteStatus() {
  Loop& loop = homes_.front()->scheduler->loop();
  const std::string text = StatusText(capsules_->Inspect(loop.Now()));
  const std::string beside = StrCat(options_.status_file, ".", getpid());
  std::FILE* const file = std::fopen(beside.c_str(), "we");
  if (file == nullptr) {
    Tell(StrCat("NEPTUNE_CAPSULE_STATUS: ", beside, ": ", std::strerror(errno)));
    return;
  }
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
  std::rename(beside.c_str(), options_.status_file.c_str());
  loop.RunAt(loop.Now() + kStatusPeriod, [this] { WriteStatus(); });
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
  if (const Status status = Start(); !status.ok()) {
    Tell(StrCat(ToStd(status.message()), ": cannot start a thread"));
    return status;
  }
  if (thread_count_.fetch_add(1) >= kPreloadThreadCountMax) {
    --thread_count_;
    return ResourceExhausted("starting a thread: ", kPreloadThreadCountMax, " threads are running");
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
  NEPTUNE_ASSIGN_OR_RETURN(std::unique_ptr<PreloadRuntime> runtime,
                           PreloadRuntime::Make(std::move(options)));
  SetThreadHome(runtime.release());
  StartSignals();
  TrackEverywhere();  // e.g. one thread accepts and another one serves
  TrackInheritedSockets();
  return OkStatus();
}

}  // namespace
}  // namespace neptune::interpose

// Called once, before the program's main. Returns 0, or prints the reason to standard error.
NEPTUNE_PRELOAD_CALL int neptune_preload_start() {
  const neptune::Status status = neptune::interpose::StartPreload();
  if (status.ok()) return 0;
  neptune::interpose::Tell(neptune::ToStd(status.message()));
  return 1;
}
