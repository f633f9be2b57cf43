// The processors of a simulated host: work waits for them and takes virtual time.
//
// fifo: k processors; each runs one piece of work to completion, the rest wait in order.
// round_robin(quantum): each piece runs for at most a quantum, then goes to the end of the queue.
// With a speedup function G, all m pieces of work present share one modelled server of speed G(m),
// like the multi-threaded round-robin server of [Jamjoom04].
//
// Source: [Chu03] 5.1 (non-preemptive FIFO, processors x speed); [Jamjoom04] II, A4 (rounds of a
//   quantum).
// Departs from source: the rate follows m at once, not at the next round.
// Threads: the simulation's thread.
// Units: cost is processor time at speed 1; rates are work per time.
// Limits: the queue is unbounded; admission control is up to the code under simulation.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "neptune/world/sim/sim_kernel.h"
#include "neptune/world/world.h"

namespace neptune {

// Total rate at which m pieces of work progress together, relative to one piece alone; G(1) = 1, m
// >= 1.
using SpeedupFunction = std::function<double(int)>;

struct ProcessorOptions {
  // Number of processors. Default: 2, as in every server of the DAC simulator. REQUIRES: >= 1.
  int count = 2;
  // Speed of each processor; the papers' quad node has 4 of speed 1.25. REQUIRES: > 0.
  double speed = 1.0;
  // 0: fifo, to completion. Otherwise round robin with this quantum; a smaller one is fairer and
  // costs more events.
  Duration quantum{0};
  // Round robin only: replaces the k processors by one server of speed G(m). Default: unset.
  SpeedupFunction speedup{};
};

class SimProcessors : public Processors {
 public:
  SimProcessors(SimKernel& kernel, const ProcessorOptions& options);

  void Execute(Loop& loop, Duration cost, Task done) override;

  // Divides the speed by `factor` (> 0) from now on, also for work in service.
  void SetSlowdown(double factor);
  // No work progresses while the host is paused.
  void SetPaused(bool paused);
  // Drops all work, as a crash does.
  void Clear();

  int waiting_count() const { return static_cast<int>(waiting_.size()); }
  int running_count() const { return running_count_; }
  int count() const override { return options_.count; }
  // Processor time used since the world began, at speed 1.
  Duration consumed() const { return consumed_; }

 private:
  struct Work {
    LoopState* loop = nullptr;
    Duration left{0};
    Task done;
  };
  struct Processor {
    bool busy = false;
    Work work;
    Duration planned{0};  // the part of `work.left` planned for this turn
    TimePoint since{};
    double rate = 0;
    EventId end = 0;
  };

  double Rate() const;
  int PresentCount() const { return running_count_ + waiting_count(); }
  void FillProcessors();
  void Begin(int index);
  void Settle(Processor& processor);
  void Finish(int index);
  void Replan();

  SimKernel& kernel_;
  const ProcessorOptions options_;
  double slowdown_ = 1.0;
  bool paused_ = false;
  int running_count_ = 0;
  Duration consumed_{0};
  std::vector<Processor> processors_;
  std::deque<Work> waiting_;
};

}  // namespace neptune
