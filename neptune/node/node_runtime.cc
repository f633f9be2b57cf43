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

Status NodeRuntime::StartLoop(std::string name, LoopRole role) {
  NEPTUNE_ASSIGN_OR_RETURN(Loop* const loop,
                           world_.StartLoop({.name = name, .priority = PriorityOf(role)}));
  NodeLoop& added = loops_.Add(name, role, loop);
  if (role == LoopRole::kControl) control_ = &added;
  if (role == LoopRole::kApplying) apply_ = &added;
  return OkStatus();
}

Status NodeRuntime::StartControl() { return StartLoop("control", LoopRole::kControl); }

void NodeRuntime::MakeScheduler(NodeLoop& loop) {
  if (loop.scheduler != nullptr) return;
  loop.scheduler = std::make_unique<ThreadScheduler>(
      *loop.loop, ThreadSchedulerOptions{.stack_size = kHandlerStackSize});
}

Status NodeRuntime::Spawn(Task body, std::string name) const {
  MakeScheduler(*control_);
  return control_->scheduler->Spawn(std::move(body), std::move(name)).status();
}

Status NodeRuntime::StartLoops(const NodeSpec& spec, bool keeps_replicas) {
  for (uint32_t i = 0; i < spec.serving_threads(); ++i) {
    NEPTUNE_RETURN_IF_ERROR(StartLoop(StrCat("serve-", i), LoopRole::kServing));
  }
  for (uint32_t i = 0; i < spec.worker_threads(); ++i) {
    NEPTUNE_RETURN_IF_ERROR(StartLoop(StrCat("work-", i), LoopRole::kWorking));
  }
  if (keeps_replicas) NEPTUNE_RETURN_IF_ERROR(StartLoop("apply", LoopRole::kApplying));
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
  Status status;
  NodeLoop& first = *loops_.serving().front();
  RunOn(first, [&] {
    auto started = first.scheduler->Spawn([this] { RunModules(); }, "modules");
    status = started.status();
    if (started.ok()) modules_ = *std::move(started);
  });
  return status;
}

void NodeRuntime::RunModules() {
  for (;;) {
    absl::AnyInvocable<void()> work;
    {
      LeafLock lock(&modules_mutex_);
      if (modules_work_ == nullptr && modules_end_) return;
      work.swap(modules_work_);
    }
    if (work == nullptr) {
      this_thread::ParkUntilWoken();
    } else {
      work();
    }
  }
}

void NodeRuntime::RunForModules(absl::AnyInvocable<void()> work) {
  if (!modules_) return work();
  OneShotEvent done;
  {
    LeafLock lock(&modules_mutex_);
    modules_work_ = [&] {
      work();
      done.Set();
    };
  }
  modules_->Wake();
  // The event lives on this stack frame, so wait for it even if the node stops.
  while (!done.is_set()) this_thread::ParkUntilWoken();
}

void NodeRuntime::EndModules() {
  if (!modules_) return;
  {
    LeafLock lock(&modules_mutex_);
    modules_end_ = true;
  }
  modules_->Wake();
  modules_ = ThreadRef();
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
