#include "neptune/node/node_runtime.h"

#include <memory>
#include <string>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/node/cluster_spec.pb.h"
#include "neptune/thread/synchronization.h"

namespace neptune {
namespace {

constexpr size_t kHandlerStackSize = 512 * 1024;
constexpr Duration kWaitPoll = std::chrono::milliseconds(5);

}  // namespace

Status NodeRuntime::StartControl() {
  NEPTUNE_ASSIGN_OR_RETURN(Loop* const loop, world_.StartLoop({.name = "serve-0"}));
  control_ = &loops_.Add("serve-0", LoopPriority::kServing, loop);
  return OkStatus();
}

void NodeRuntime::MakeScheduler(NodeLoop& loop) {
  if (loop.scheduler != nullptr) return;
  loop.scheduler = std::make_unique<ThreadScheduler>(
      *loop.loop, ThreadSchedulerOptions{.stack_size = kHandlerStackSize});
}

Status NodeRuntime::Spawn(Task body, std::string name) const {
  MakeScheduler(*control_);
  return control_->scheduler->Spawn(std::move(body), std::move(name)).status();
}

Status NodeRuntime::StartLoops(const NodeSpec& spec) {
  for (uint32_t i = 1; i < spec.serving_threads(); ++i) {
    const std::string name = StrCat("serve-", i);
    NEPTUNE_ASSIGN_OR_RETURN(Loop* const loop, world_.StartLoop({.name = name}));
    loops_.Add(name, LoopPriority::kServing, loop);
  }
  for (uint32_t i = 0; i < spec.worker_threads(); ++i) {
    const std::string name = StrCat("work-", i);
    NEPTUNE_ASSIGN_OR_RETURN(
        Loop* const loop, world_.StartLoop({.name = name, .priority = LoopPriority::kBackground}));
    loops_.Add(name, LoopPriority::kBackground, loop);
  }
  return OkStatus();
}

Status NodeRuntime::PrepareAll(const std::function<Status(NodeLoop&)>& prepare) {
  for (const auto& loop : loops_.all()) {
    Status status;
    RunOn(*loop, [&] {
      MakeScheduler(*loop);
      status = prepare(*loop);
    });
    NEPTUNE_RETURN_IF_ERROR(status);
  }
  return OkStatus();
}

void NodeRuntime::RunOn(NodeLoop& loop, absl::AnyInvocable<void()> work) {
  if (loop.loop == Loop::Current()) return work();
  OneShotEvent done;
  loop.loop->Post([&] {
    work();
    done.Set();
  });
  // The event lives on this stack frame, so wait for it even if the node stops.
  while (!done.is_set()) this_thread::ParkUntilWoken();
}

void NodeRuntime::RunOnAll(absl::FunctionRef<void(NodeLoop&)> work) {
  for (const auto& loop : loops_.all()) {
    RunOn(*loop, [&] { work(*loop); });
  }
}

bool NodeRuntime::WaitUntil(const std::function<bool()>& done, Duration limit) const {
  const TimePoint end = AddSaturated(control_->loop->Now(), limit);
  while (!done()) {
    if (control_->loop->Now() >= end) return false;
    OneShotEvent pause;
    control_->loop->RunAt(control_->loop->Now() + kWaitPoll, [&] { pause.Set(); });
    while (!pause.is_set()) this_thread::ParkUntilWoken();
  }
  return true;
}

bool NodeRuntime::OnlyThisThreadLives() {
  size_t live_count = 0;
  RunOnAll([&](NodeLoop& loop) {
    if (loop.scheduler != nullptr) live_count += loop.scheduler->live_count();
  });
  return live_count <= 1;
}

}  // namespace neptune
