#include "tools/lab/threads/threaded_host.h"

#include <deque>
#include <memory>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/simulator.h"

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::FromSeconds;
using neptune::InvalidArgument;
using neptune::Status;
using neptune::TimePoint;

Status Check(const ThreadedRun& run) {
  if (run.classes.empty()) return InvalidArgument("a host without service classes");
  for (const ThreadedClass& one : run.classes) {
    if (one.thread_count < 1 || one.queue_length_max < 0 || !(one.arrival_rate >= 0)) {
      return InvalidArgument("a class with ", one.thread_count, " threads, ", one.queue_length_max,
                             " places and ", one.arrival_rate, " arrivals a second");
    }
  }
  if (!(run.length_s > 0) || run.warm_up_s < 0) return InvalidArgument("no time to measure in");
  return neptune::OkStatus();
}

// One class: its arrivals, its queue, its threads.
class ClassOnHost {
 public:
  ClassOnHost(neptune::World& world, neptune::Loop& loop, const ThreadedClass& options,
              uint64_t seed)
      : world_(world), loop_(loop), options_(options), random_(seed) {}

  void Start(TimePoint measured_from) {
    measured_from_ = measured_from;
    if (options_.arrival_rate > 0) return PlanArrival();
    for (int i = 0; i < options_.thread_count; ++i) Serve(loop_.Now());
  }

  ThreadedOutcome Outcome(double length_s) const { return tally_.Outcome(length_s); }

 private:
  void PlanArrival() {
    const Duration gap = FromSeconds(random_.Exponential(1 / options_.arrival_rate));
    loop_.RunAt(loop_.Now() + gap, [this] {
      Arrive();
      PlanArrival();
    });
  }

  bool Counts(TimePoint arrived) const { return arrived >= measured_from_; }

  void Arrive() {
    const TimePoint now = loop_.Now();
    if (Counts(now)) tally_.OnArrival();
    if (busy_count_ < options_.thread_count) return Serve(now);
    if (waiting_.size() < static_cast<size_t>(options_.queue_length_max)) {
      waiting_.push_back(now);
    } else if (Counts(now)) {
      tally_.OnLost();
    }
  }

  void Serve(TimePoint arrived) {
    ++busy_count_;
    const Duration cost = FromSeconds(options_.service_ms.Sample(random_) / 1000);
    const TimePoint begun = loop_.Now();
    world_.processors().Execute(loop_, cost, [this, arrived, begun] { End(arrived, begun); });
  }

  void End(TimePoint arrived, TimePoint begun) {
    --busy_count_;
    const TimePoint now = loop_.Now();
    if (Counts(arrived)) tally_.OnServed(now - arrived, now - begun);
    if (options_.arrival_rate == 0) return Serve(now);
    if (waiting_.empty()) return;
    const TimePoint next = waiting_.front();
    waiting_.pop_front();
    Serve(next);
  }

  neptune::World& world_;
  neptune::Loop& loop_;
  const ThreadedClass options_;
  neptune::RandomSource random_;
  TimePoint measured_from_;
  std::deque<TimePoint> waiting_;
  int busy_count_ = 0;
  ThreadedTally tally_;
};

}  // namespace

ThreadedOutcome ThreadedTally::Outcome(double length_s) const {
  ThreadedOutcome outcome;
  const auto served = static_cast<double>(served_count_);
  outcome.throughput = served / length_s;
  if (served_count_ > 0) {
    outcome.response_s_mean = response_s_sum_ / served;
    outcome.processing_s_mean = processing_s_sum_ / served;
  }
  const auto arrived = static_cast<double>(arrived_count_);
  if (arrived_count_ > 0) outcome.loss_share = static_cast<double>(lost_count_) / arrived;
  return outcome;
}

neptune::StatusOr<std::vector<ThreadedOutcome>> RunThreadedHost(const ThreadedRun& run,
                                                                uint64_t seed) {
  NEPTUNE_RETURN_IF_ERROR(Check(run));
  neptune::Simulator simulator(seed);
  neptune::SimWorld& host = simulator.AddHost(
      {.name = "host",
       .processors = {.count = 1,
                      .quantum = run.quantum,
                      .speedup = [speedup = run.speedup](int m) { return speedup.At(m); }}});
  NEPTUNE_ASSIGN_OR_RETURN(neptune::Loop* const loop, host.StartLoop({.name = "threads"}));
  std::vector<std::unique_ptr<ClassOnHost>> classes;
  for (const ThreadedClass& one : run.classes) {
    classes.push_back(std::make_unique<ClassOnHost>(host, *loop, one, simulator.random().Next()));
  }
  const TimePoint measured_from = simulator.now() + FromSeconds(run.warm_up_s);
  loop->Post([&] {
    for (const auto& one : classes) one->Start(measured_from);
  });
  simulator.RunUntil(measured_from + FromSeconds(run.length_s));
  std::vector<ThreadedOutcome> outcomes;
  for (const auto& one : classes) outcomes.push_back(one->Outcome(run.length_s));
  return outcomes;
}

}  // namespace search::lab
