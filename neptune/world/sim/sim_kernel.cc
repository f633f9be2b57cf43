#include "neptune/world/sim/sim_kernel.h"

#include <utility>

namespace neptune {
namespace {

// Makes a loop the current one while the object lives; also if a test's task throws.
class CurrentLoop {
 public:
  explicit CurrentLoop(Loop* loop) : before_(Access::SetCurrent(loop)) {}
  ~CurrentLoop() { Access::SetCurrent(before_); }
  CurrentLoop(const CurrentLoop&) = delete;
  CurrentLoop& operator=(const CurrentLoop&) = delete;

 private:
  // Gives access to the protected members of Loop.
  struct Access : Loop {
    using Loop::SetCurrent;
  };
  Loop* const before_;
};

uint64_t Where(const LoopState* loop) {
  if (loop == nullptr) return 0;
  return (static_cast<uint64_t>(loop->host->index) + 1) << 16 | static_cast<uint64_t>(loop->index);
}

}  // namespace

uint64_t DeriveSeed(uint64_t seed, uint64_t stream) {
  TraceHash hash;
  hash.Add(seed);
  hash.Add(stream);
  return hash.value();
}

SimKernel::SimKernel(uint64_t seed)
    : seed_(seed), random_(DeriveSeed(seed, 0)), thread_(std::this_thread::get_id()) {}

EventId SimKernel::At(TimePoint when, EventKind kind, LoopState* loop, Task task) {
  if (loop != nullptr && loop->stopped) return 0;
  return queue_.Add(when, {std::move(task), loop, kind});
}

void SimKernel::RunOn(LoopState* loop, EventKind kind, Task task) {
  if (loop->stopped) return;
  if (std::vector<uint64_t>* const waiting = WaitingOf(loop)) {
    waiting->push_back(queue_.Add(kNever, {std::move(task), loop, kind}));
    return;
  }
  RunAs(loop, std::move(task));
}

// Runs and destroys the task with its loop as the current one.
void SimKernel::RunAs(const LoopState* loop, Task task) {
  const CurrentLoop current(loop == nullptr ? nullptr : loop->loop);
  task();
  task = nullptr;
}

void SimKernel::Trace(EventKind kind, const LoopState* loop, std::string_view bytes) {
  trace_.Add(static_cast<uint64_t>(kind) << 56 | Where(loop));
  trace_.Add(bytes);
}

void SimKernel::Inject(LoopState* loop, Task task) {
  LeafLock lock(&mutex_);
  injected_.push_back({loop, std::move(task)});
  has_injected_ = true;
}

void SimKernel::AdoptInjected() {
  std::vector<Injected> taken;
  {
    LeafLock lock(&mutex_);
    taken.swap(injected_);
    has_injected_ = false;
  }
  for (Injected& one : taken) At(now(), EventKind::kTask, one.loop, std::move(one.task));
}

bool SimKernel::Step(TimePoint limit) {
  if (has_injected_.load(std::memory_order_acquire)) AdoptInjected();
  const std::optional<EventId> due = queue_.PopDue(limit);
  if (!due) return false;
  LoopState* loop = queue_.Peek(*due).loop;
  if (std::vector<uint64_t>* const waiting = WaitingOf(loop)) {
    waiting->push_back(*due);
    return true;
  }
  Event event = queue_.Take(*due);
  if (loop != nullptr && loop->stopped) return true;
  TraceRun(event);
  RunAs(loop, std::move(event.task));
  return true;
}

void SimKernel::TraceRun(const Event& event) {
  ++event_count_;
  trace_.Add(static_cast<uint64_t>(event.kind) << 56 | Where(event.loop));
  trace_.Add(static_cast<uint64_t>(now().time_since_epoch().count()));
}

void SimKernel::Resume(HostState& host) {
  host.paused = false;
  for (const EventId id : std::exchange(host.deferred, {})) queue_.Requeue(id);
}

void SimKernel::Resume(LoopState& loop) {
  loop.hangs = false;
  for (const EventId id : std::exchange(loop.deferred, {})) queue_.Requeue(id);
}

std::vector<uint64_t>* SimKernel::WaitingOf(LoopState* loop) {
  if (loop == nullptr) return nullptr;
  if (loop->host->paused) return &loop->host->deferred;
  return loop->hangs && !loop->stopped ? &loop->deferred : nullptr;
}

void SimKernel::DropStopped() {
  // Destroying a task may post another one to a loop that is not stopped.
  const std::vector<Event> dropped = queue_.RemoveIf(
      [](const Event& event) { return event.loop != nullptr && event.loop->stopped; });
}

}  // namespace neptune
