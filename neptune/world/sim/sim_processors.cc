#include "neptune/world/sim/sim_processors.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "neptune/world/sim/sim_loop.h"

namespace neptune {

SimProcessors::SimProcessors(SimKernel& kernel, const ProcessorOptions& options)
    : kernel_(kernel), options_(options) {
  CHECK_GE(options.count, 1);
  CHECK_GT(options.speed, 0);
  CHECK(!options.speedup || options.quantum > Duration(0)) << "a speedup needs round robin";
  processors_.resize(options.speedup ? 1 : options.count);
}

void SimProcessors::Execute(Loop& loop, Duration cost, Task done) {
  LoopState& state = static_cast<SimLoop&>(loop).state();
  if (state.stopped) return;
  waiting_.push_back({&state, std::max(cost, Duration(0)), std::move(done)});
  if (options_.speedup) Replan();  // new work changes the rate of all work
  FillProcessors();
}

void SimProcessors::SetSlowdown(double factor) {
  CHECK_GT(factor, 0);
  slowdown_ = factor;
  Replan();
}

void SimProcessors::SetPaused(bool paused) {
  paused_ = paused;
  Replan();
  FillProcessors();
}

void SimProcessors::Clear() {
  std::vector<Work> dropped;
  for (Processor& processor : processors_) {
    if (!processor.busy) continue;
    Settle(processor);
    dropped.push_back(std::move(processor.work));
    processor = Processor();
  }
  for (Work& work : std::exchange(waiting_, {})) dropped.push_back(std::move(work));
  running_count_ = 0;
}

double SimProcessors::Rate() const {
  if (paused_) return 0;
  const double gain = options_.speedup ? options_.speedup(std::max(1, PresentCount())) : 1.0;
  return options_.speed * gain / slowdown_;
}

void SimProcessors::FillProcessors() {
  if (paused_) return;
  for (int i = 0; i < static_cast<int>(processors_.size()) && !waiting_.empty(); ++i) {
    Processor& processor = processors_[i];
    if (processor.busy) continue;
    processor.busy = true;
    processor.work = std::move(waiting_.front());
    waiting_.pop_front();
    ++running_count_;
    processor.planned = options_.quantum > Duration(0)
                            ? std::min(options_.quantum, processor.work.left)
                            : processor.work.left;
    Begin(i);
  }
}

// Schedules the end of the turn at the current rate; with a rate of 0 there is none.
void SimProcessors::Begin(int index) {
  Processor& processor = processors_[index];
  processor.since = kernel_.now();
  processor.rate = Rate();
  processor.end = 0;
  if (processor.rate <= 0) return;
  const Duration takes(std::llround(std::ceil(processor.planned.count() / processor.rate)));
  processor.end = kernel_.At(AddSaturated(kernel_.now(), takes), EventKind::kWork, nullptr,
                             [this, index] { Finish(index); });
}

// Accounts the work done since the turn was scheduled, and cancels its scheduled end.
void SimProcessors::Settle(Processor& processor) {
  kernel_.Cancel(processor.end);
  const auto elapsed = static_cast<double>((kernel_.now() - processor.since).count());
  const Duration done =
      std::min(processor.planned, Duration(std::llround(elapsed * processor.rate)));
  processor.planned -= done;
  processor.work.left -= done;
  consumed_ += done;
}

void SimProcessors::Finish(int index) {
  Processor& processor = processors_[index];
  consumed_ += processor.planned;
  processor.work.left -= processor.planned;
  Work work = std::move(processor.work);
  processor = Processor();
  --running_count_;
  const bool finished = work.left <= Duration(0);
  if (!finished) waiting_.push_back(std::move(work));
  FillProcessors();
  if (!finished) return;
  kernel_.Trace(EventKind::kWork, work.loop, {});
  kernel_.RunOn(work.loop, EventKind::kWork, std::move(work.done));
}

void SimProcessors::Replan() {
  for (int i = 0; i < static_cast<int>(processors_.size()); ++i) {
    if (!processors_[i].busy) continue;
    Settle(processors_[i]);
    Begin(i);
  }
}

}  // namespace neptune
