#include "neptune/scheduling/class_scheduler.h"

#include <algorithm>
#include <limits>

namespace neptune {
namespace {

// Half of the weight of a prediction is on the last 35 requests.
constexpr double kPredictionWeight = 0.02;
// How fast the pace of the queue is learned: half of the weight is on the last 69 picks. Larger: one long request among
// short ones makes the queue look slow, and short ones are refused in vain.
constexpr double kPaceWeight = 0.01;
constexpr double kNeverFirst = std::numeric_limits<double>::infinity();
// How fast the demand is forgotten: half of it is of the last 6.6 s.
constexpr double kDemandRetention = 0.9;
// The part of what yid goes by in the cost of waiting. Larger: deadlines count more while there is little to do; smaller:
// under overload the policy is greedier. Found by simulation of the papers' workloads; from 0.04 to 0.8 it differs little.
constexpr double kUrgency = 0.2;

std::vector<double> GuaranteesOf(const SchedulerOptions& options) {
  std::vector<double> guarantees;
  for (const ServiceClassOptions& one : options.classes) guarantees.push_back(one.guarantee);
  return guarantees;
}

}  // namespace

ClassScheduler::ClassQueue::ClassQueue(const std::optional<YieldFunction>& yield)
    : consumed_ns(kPredictionWeight), expected(yield) {}

ClassScheduler::ClassScheduler(const SchedulerOptions& options)
    : options_(options),
      consumption_(options.classes.size()),
      credit_(GuaranteesOf(options)),
      demand_(kDemandRetention),
      pick_gap_ns_(kPaceWeight) {
  for (const ServiceClassOptions& one : options_.classes) queues_.emplace_back(one.yield);
}

bool ClassScheduler::WouldWaitTooLong(const WaitingRequest& request) const {
  if (options_.policy != SchedulingPolicy::kFifo || !options_.wait_share_max) return false;
  const Duration left = TimeLeft(request, request.arrived);
  return left != Duration::max() &&
         static_cast<double>(length_) * pick_gap_ns_.value() >
             *options_.wait_share_max * static_cast<double>(left.count());
}

void ClassScheduler::NotePick(TimePoint now) {
  if (waiting_since_pick_) {
    pick_gap_ns_.Add(static_cast<double>((now - *waiting_since_pick_).count()));
  }
  waiting_since_pick_.reset();
  if (length_ > 0) waiting_since_pick_ = now;
}

ClassScheduler::Entry ClassScheduler::Push(const WaitingRequest& request) {
  drops_.OnArrival(request.arrived);
  const double expected_s = MeanConsumption(request.service_class) / 1e9;
  demand_.Add(expected_s, request.arrived);
  ClassQueue& queue = queues_[request.service_class];
  Entry entry = Entry::kTaken;
  if (queue.waiting.size() >= options_.classes[request.service_class].queue_length_max) {
    entry = Entry::kQueueFull;
  } else if (WouldWaitTooLong(request)) {
    entry = Entry::kWaitTooLong;
  }
  if (entry != Entry::kTaken) {
    drops_.OnDrop(request.arrived);
    return entry;
  }
  queue.waiting.push_back(request);
  ++length_;
  return entry;
}

// Until it is of no use, to the caller or by its class.
Duration ClassScheduler::TimeLeft(const WaitingRequest& request, TimePoint now) const {
  const std::optional<YieldFunction>& yield = options_.classes[request.service_class].yield;
  TimePoint until = request.deadline;
  if (yield) until = std::min(until, request.arrived + yield->deadline());
  return until == kNever ? Duration::max() : until - now;
}

double ClassScheduler::YieldIfServed(const WaitingRequest& request, TimePoint now) const {
  const ExpectedYield& expected = queues_[request.service_class].expected;
  if (expected.mean_service() > TimeLeft(request, now)) return 0;
  return expected.WithMeanService(now - request.arrived);
}

// Nanoseconds; next to nothing while none has ended.
double ClassScheduler::MeanConsumption(ClassNumber number) const {
  return std::max(1.0, queues_[number].consumed_ns.value());
}

void ClassScheduler::Drop(TimePoint now, Picked* picked) {
  for (ClassNumber number = 0; number < queues_.size(); ++number) {
    std::deque<WaitingRequest>& waiting = queues_[number].waiting;
    const double least = options_.drop_share.value_or(0) * queues_[number].expected.full();
    while (!waiting.empty()) {
      const WaitingRequest& head = waiting.front();
      const bool is_late = TimeLeft(head, now) <= Duration(0);
      const bool is_worthless = options_.drop_share && YieldIfServed(head, now) <= least;
      if (!is_late && !is_worthless) break;
      drops_.OnDrop(now);
      if (!is_late) queues_[number].expected.Doubt();
      picked->dropped.push_back(head);
      waiting.pop_front();
      --length_;
    }
  }
}

double ClassScheduler::GapOf(ClassNumber number) const {
  if (options_.policy == SchedulingPolicy::kWaitingCost) return credit_.Of(number);
  return options_.classes[number].guarantee - consumption_.Share(number);
}

// The class with the largest gap between what it is guaranteed and what it has.
std::optional<ClassScheduler::Candidate> ClassScheduler::MostBelowGuarantee(
    TimePoint now, const ClassThreads& threads) const {
  std::optional<Candidate> most;
  double largest = 0;
  for (ClassNumber number = 0; number < queues_.size(); ++number) {
    if (!MayRun(number, threads)) continue;
    const double gap = GapOf(number);
    if (gap <= largest) continue;
    largest = gap;
    most = {number};
  }
  // What is guaranteed is worth nothing if it comes too late.
  if (most && options_.policy == SchedulingPolicy::kWaitingCost) {
    most = CostlierOf(most->service_class, BacklogAt(now), now);
  }
  return most;
}

double ClassScheduler::PriorityOf(SchedulingPolicy policy, ClassNumber number,
                                  TimePoint now) const {
  const WaitingRequest& head = queues_[number].waiting.front();
  if (policy == SchedulingPolicy::kFifo) {
    return static_cast<double>(head.arrived.time_since_epoch().count());
  }
  const auto left = static_cast<double>(TimeLeft(head, now).count());
  if (policy == SchedulingPolicy::kEdf) return left;
  const double yield = YieldIfServed(head, now);
  if (yield <= 0) return kNeverFirst;
  return (policy == SchedulingPolicy::kYid ? left : MeanConsumption(number)) / yield;
}

std::optional<ClassScheduler::Candidate> ClassScheduler::FirstByPolicy(
    TimePoint now, const ClassThreads& threads) {
  SchedulingPolicy policy = options_.policy;
  if (policy == SchedulingPolicy::kWaitingCost) return CostliestToWait(now, threads);
  if (policy == SchedulingPolicy::kAdaptive) {
    policy = IsOverloaded(now) ? SchedulingPolicy::kGreedy : SchedulingPolicy::kYid;
  }
  std::optional<Candidate> first;
  double smallest = 0;
  for (ClassNumber number = 0; number < queues_.size(); ++number) {
    if (!MayRun(number, threads)) continue;
    const double priority = PriorityOf(policy, number, now);
    if (first && priority >= smallest) continue;
    smallest = priority;
    first = {number};
  }
  return first;
}

double ClassScheduler::CostOfWaiting(const WaitingRequest& request, double delay_s,
                                     TimePoint now) const {
  const ExpectedYield& expected = queues_[request.service_class].expected;
  const Duration waited = now - request.arrived;
  const double now_yields = expected.OverTimes(waited);
  const double later_yields = expected.OverTimes(waited + FromSeconds(delay_s));
  const double left_ns = std::max(1.0, static_cast<double>(TimeLeft(request, now).count()));
  return (now_yields - later_yields) / MeanConsumption(request.service_class) +
         kUrgency * now_yields / left_ns;
}

ClassScheduler::Backlog ClassScheduler::BacklogAt(TimePoint now) const {
  double backlog_s = 0;
  for (ClassNumber number = 0; number < queues_.size(); ++number) {
    backlog_s +=
        static_cast<double>(queues_[number].waiting.size()) * MeanConsumption(number) / 1e9;
  }
  const double demand = demand_.Value(now) / demand_.MeanAgeSeconds() / options_.capacity;
  return {.drain_s = backlog_s / options_.capacity, .excess = std::max(0.0, demand - 1)};
}

ClassScheduler::Candidate ClassScheduler::CostlierOf(ClassNumber number, const Backlog& backlog,
                                                     TimePoint now) const {
  const std::deque<WaitingRequest>& waiting = queues_[number].waiting;
  const std::optional<YieldFunction>& yield = options_.classes[number].yield;
  const double delay_s =
      backlog.drain_s + (yield ? backlog.excess * ToSeconds(yield->deadline()) : 0);
  const double oldest = CostOfWaiting(waiting.front(), delay_s, now);
  const double newest = waiting.size() == 1 ? oldest : CostOfWaiting(waiting.back(), delay_s, now);
  return {.service_class = number, .is_newest = newest > oldest, .cost = std::max(oldest, newest)};
}

std::optional<ClassScheduler::Candidate> ClassScheduler::CostliestToWait(
    TimePoint now, const ClassThreads& threads) const {
  const Backlog backlog = BacklogAt(now);
  std::optional<Candidate> first;
  for (ClassNumber number = 0; number < queues_.size(); ++number) {
    if (!MayRun(number, threads)) continue;
    const Candidate candidate = CostlierOf(number, backlog, now);
    if (!first || candidate.cost > first->cost) first = candidate;
  }
  return first;
}

ClassScheduler::Picked ClassScheduler::Pick(TimePoint now, const ClassThreads& threads) {
  Picked picked;
  Drop(now, &picked);
  std::optional<Candidate> chosen = MostBelowGuarantee(now, threads);
  if (!chosen) chosen = FirstByPolicy(now, threads);
  if (!chosen) return picked;
  std::deque<WaitingRequest>& waiting = queues_[chosen->service_class].waiting;
  picked.next = chosen->is_newest ? waiting.back() : waiting.front();
  chosen->is_newest ? waiting.pop_back() : waiting.pop_front();
  --length_;
  if (options_.policy == SchedulingPolicy::kWaitingCost) {
    credit_.OnPicked(chosen->service_class, [this](size_t number) {
      return MeanConsumption(static_cast<ClassNumber>(number));
    });
  }
  NotePick(now);
  return picked;
}

bool ClassScheduler::Remove(RequestTicket ticket) {
  for (ClassQueue& queue : queues_) {
    const auto found =
        std::find_if(queue.waiting.begin(), queue.waiting.end(),
                     [&](const WaitingRequest& request) { return request.ticket == ticket; });
    if (found == queue.waiting.end()) continue;
    queue.waiting.erase(found);
    --length_;
    return true;
  }
  return false;
}

void ClassScheduler::OnServed(ClassNumber service_class, Duration consumed, Duration served_for,
                              TimePoint now) {
  ClassQueue& queue = queues_[service_class];
  const auto amount = static_cast<double>(std::max(consumed, Duration(0)).count());
  consumption_.Add(service_class, amount, now);
  queue.consumed_ns.Add(amount);
  queue.expected.OnServed(served_for);
}

TimePoint ClassScheduler::OldestArrival() const {
  TimePoint oldest = kNever;
  for (const ClassQueue& queue : queues_) {
    if (!queue.waiting.empty()) oldest = std::min(oldest, queue.waiting.front().arrived);
  }
  return oldest;
}

}  // namespace neptune
