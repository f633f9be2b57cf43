#include "neptune/world/sim/sim_world.h"

#include <algorithm>
#include <utility>

#include "neptune/world/sim/sim_network.h"

namespace neptune {

SimWorld::SimWorld(SimKernel& kernel, NetworkModel& network, int index, const HostOptions& options,
                   int64_t wall_time_start_ns)
    : kernel_(kernel),
      network_(network),
      options_(options),
      wall_time_start_ns_(wall_time_start_ns),
      state_{index, false, {}},
      processors_(kernel, options.processors) {
  network_.AddHost(&state_, options.address);
}

StatusOr<Loop*> SimWorld::StartLoop(const LoopOptions& options) {
  if (!running_) return Unavailable("starting loop ", options.name, ": host ", name(), " is down");
  if (live_loop_count_ == kLoopCountMax) {
    return ResourceExhausted("starting loop ", options.name, ": host ", name(), " has ",
                             kLoopCountMax, " loops");
  }
  const int index = live_loop_count_++;
  const uint64_t seed =
      DeriveSeed(DeriveSeed(kernel_.seed(), 1 + state_.index), life_ << 16 | index);
  auto loop = std::make_unique<SimLoop>(kernel_, state_, index, options, seed);
  loop->set_network(std::make_unique<SimNetwork>(network_, loop->state()));
  loops_.push_back(std::move(loop));
  return loops_.back().get();
}

void SimWorld::Stop() { Silence(/*tell_peers=*/true); }

WallTime SimWorld::wall_time() const {
  return {wall_time_start_ns_ + kernel_.now().time_since_epoch().count() + clock_offset_.count()};
}

HostLoad SimWorld::SampleLoad() {
  const Duration elapsed = kernel_.now() - std::exchange(load_sampled_at_, kernel_.now());
  const Duration used =
      processors_.consumed() - std::exchange(load_sampled_, processors_.consumed());
  if (elapsed <= Duration(0)) return {};
  const int64_t permille = 1000 * used.count() / (elapsed.count() * processors_.count());
  return {static_cast<uint16_t>(std::clamp<int64_t>(permille, 0, 1000)), 0};
}

void SimWorld::Silence(bool tell_peers) {
  if (!std::exchange(running_, false)) return;
  ++life_;
  live_loop_count_ = 0;
  for (const auto& loop : loops_) loop->Stop();
  network_.CrashHost(state_.index, tell_peers);
  processors_.Clear();
  kernel_.DropStopped();
  state_.deferred.clear();
}

void SimWorld::Boot() {
  if (!options_.boot) return;
  kernel_.At(kernel_.now(), EventKind::kModel, nullptr, [this, life = life_] {
    if (!running_ || life != life_) return;
    program_ = options_.boot(*this);
  });
}

void SimWorld::Crash(CrashKind kind) {
  Silence(kind == CrashKind::kProcess);
  if (kind == CrashKind::kMachine) storage_.Crash(kernel_.random());
  // Before the program's objects are destroyed (some never are): the system closes what a killed
  // process had open.
  storage_.EndProcess();
  program_.reset();
  Resume();
}

void SimWorld::Restart() {
  if (running_) Crash(CrashKind::kProcess);
  program_.reset();  // left by a host that stopped by itself
  running_ = true;
  Boot();
}

void SimWorld::Pause() {
  if (!running_) return;
  state_.paused = true;
  processors_.SetPaused(true);
}

void SimWorld::Resume() {
  if (!state_.paused) return;
  processors_.SetPaused(false);
  kernel_.Resume(state_);
}

SimLoop* SimWorld::FindLoop(std::string_view name) const {
  if (!running_ || live_loop_count_ == 0) return nullptr;
  const auto first = loops_.end() - live_loop_count_;
  const auto found = std::find_if(first, loops_.end(),
                                  [&](const auto& one) { return one->options().name == name; });
  return found == loops_.end() ? first->get() : found->get();
}

void SimWorld::SetLoopHanging(std::string_view loop, bool hangs) {
  if (SimLoop* const found = FindLoop(loop)) found->SetHanging(hangs);
}

size_t SimWorld::WaitingAt(std::string_view loop) const {
  SimLoop* const found = FindLoop(loop);
  return found == nullptr ? 0 : found->state().deferred.size();
}

}  // namespace neptune
