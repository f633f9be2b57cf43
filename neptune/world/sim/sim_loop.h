// One loop of a simulated host: its tasks and timers are events of the simulation.
//
// Threads: Post from any thread, but a run with posts from a foreign thread cannot be replayed from
//   a seed; everything else on the simulation's thread.
// Limits: see event_queue.h.

#pragma once

#include <memory>
#include <string>
#include <utility>

#include "neptune/world/loop.h"
#include "neptune/world/network.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/sim_kernel.h"
#include "neptune/world/world.h"

namespace neptune {

class SimLoop : public Loop {
 public:
  SimLoop(SimKernel& kernel, HostState& host, int index, const LoopOptions& options, uint64_t seed)
      : kernel_(kernel),
        state_{.host = &host, .index = index, .loop = this},
        options_(options),
        random_(seed),
        secrets_(~seed) {}

  void set_network(std::unique_ptr<Network> network) { network_ = std::move(network); }
  LoopState& state() { return state_; }
  SimKernel& kernel() { return kernel_; }
  const LoopOptions& options() const { return options_; }

  // Until it is called with false no event of the loop runs, as if one of its tasks did not end.
  void SetHanging(bool hangs);

  // Refuses further tasks and timers. SimKernel::DropStopped destroys the queued ones.
  void Stop() { state_.stopped = true; }

  TimePoint Now() const override { return kernel_.now(); }
  void Post(Task task) override;
  TimerId RunAt(TimePoint when, Task task) override;
  bool CancelTimer(TimerId timer) override { return kernel_.Cancel(timer); }
  Network& network() override { return *network_; }
  RandomSource& random() override { return random_; }
  void FillUnpredictable(char* bytes, size_t size) override {
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(secrets_.Next());
  }

 private:
  SimKernel& kernel_;
  LoopState state_;
  const LoopOptions options_;
  RandomSource random_;
  RandomSource secrets_;
  std::unique_ptr<Network> network_;
};

}  // namespace neptune
