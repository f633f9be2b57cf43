// The processors of a simulated host: work queues for them and takes virtual time.
//
// fifo: k processors, each serves one piece of work to its end; the rest wait in order.
// round_robin(quantum): each piece runs for at most a quantum, then goes behind those that wait.
// With a speedup function G, round robin serves all m pieces of work present on one modelled server
// of speed G(m), as the multi-threaded round-robin server of the MTRR paper does.
//
// Source: [Chu03] 5.1 (non-preemptive FIFO, processors x speed); [Jamjoom04] II, A4 (rounds of a
// quantum). Departs from the source: a round's rate follows m at once, not at the next round.
// Threads: the simulation's thread.
// Units: cost is processor time at speed 1; rates are work per time.
// Limits: the queue is unbounded: admission belongs to the code under simulation.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "neptune/world/sim/sim_kernel.h"
#include "neptune/world/world.h"

namespace neptune {

// Total rate at which m pieces of work progress together, relative to one alone; G(1) = 1, m >= 1.
using SpeedupFunction = std::function<double(int)>;

struct ProcessorOptions {
  // Processors of the host. Default: 2, as every server of the DAC simulator. REQUIRES: >= 1.
  int count = 2;
  // Speed of each; the papers' quad node has 4 processors of speed 1.25. REQUIRES: > 0.
  double speed = 1.0;
  // 0: fifo, to completion. Else round robin with this quantum; smaller is fairer and costs more
  // events.
  Duration quantum{0};
  // Round robin only: replaces the k processors by one server of speed G(m). Default: none.
  SpeedupFunction speedup{};
};

class SimProcessors : public Processors {
 public:
  SimProcessors(SimKernel& kernel, const ProcessorOptions& options);

  void Execute(Loop& loop, Duration cost, Task done) override;

  // Divides the speed by `factor` (> 0) from now on, work in service included.
  void SetSlowdown(double factor);
  // Work stands still while the host is paused.
  void SetPaused(bool paused);
  // Forgets all work, as a crash does.
  void Clear();

  int waiting_count() const { return static_cast<int>(waiting_.size()); }
  int running_count() const { return running_count_; }
  int count() const override { return options_.count; }
  // Processor time spent since the world began, at speed 1.
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
    Duration planned{0};  // of `work.left`, in this turn
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
