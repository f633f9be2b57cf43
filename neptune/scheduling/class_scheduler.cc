#include "neptune/scheduling/class_scheduler.h"

#include <algorithm>
#include <limits>

namespace neptune {
namespace {

// The last 35 requests have half of the weight of a prediction.
constexpr double kPredictionWeight = 0.02;
// Weight of the queue's pace: the last 69 picks have half of the weight. Larger: one long request
// among short ones makes the queue look slow, and short ones are refused needlessly.
constexpr double kPaceWeight = 0.01;
constexpr double kNeverFirst = std::numeric_limits<double>::infinity();
// Retention of the demand: the last 6.6 s have half of the weight.
constexpr double kDemandRetention = 0.9;
// Weight of yid in the cost of waiting. Larger: deadlines matter more at low load; smaller: the
// policy is greedier under overload. Found by simulating the papers' workloads; results differ
// little from 0.04 to 0.8.
constexpr double kUrgency = 0.2;

std::vector<double> GuaranteesOf(const SchedulerOptions& options) {
  std::vector<double> guarantees;
  for (const ServiceClassOptions& one : options.classes) guarantees.push_back(one.guarantee);
  return guarantees;
}

}  // namespace

ClassScheduler::ClassQueue::ClassQueue(const ServiceClassOptions& options,
                                       const std::optional<double>& drop_share)
    : consumed_ns(kPredictionWeight), expected(options.yield) {
  if (options.yield && drop_share) {
    useful_for =
        options.yield->LatestOver(*drop_share * options.yield->full()).value_or(Duration(-1));
  }
}

ClassScheduler::ClassScheduler(const SchedulerOptions& options)
    : options_(options),
      consumption_ns_(options.classes.size(), 1),
      consumption_(options.classes.size()),
      credit_(GuaranteesOf(options)),
      demand_(kDemandRetention),
      pick_gap_ns_(kPaceWeight) {
  for (const ServiceClassOptions& one : options_.classes) {
    queues_.emplace_back(one, options_.drop_share);
    figures_.push_back({.guarantee = one.guarantee});
    if (one.yield) figures_.back().yield_deadline = one.yield->deadline();
  }
}

bool ClassScheduler::WouldWaitTooLong(const WaitingRequest& request) const {
  if (options_.policy != SchedulingPolicy::kFifo || !options_.wait_share_max) return false;
  const Duration left = TimeLeft(UntilOf(request), request.arrived);
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

void ClassScheduler::NoteArrival(const WaitingRequest& request, bool is_refused) {
  drops_.OnArrival(request.arrived);
  demand_.Add(consumption_ns_[request.service_class] / 1e9, request.arrived);
  if (is_refused) drops_.OnDrop(request.arrived);
}

void ClassScheduler::Offer(ClassNumber number, const WaitingRequest* next, size_t waiting_count) {
  ClassQueue& queue = queues_[number];
  const bool is_same = next == nullptr
                           ? queue.waiting.empty()
                           : !queue.waiting.empty() && queue.waiting.front().ticket == next->ticket;
  const size_t elsewhere = next == nullptr ? 0 : waiting_count - 1;
  if (is_same && queue.elsewhere == elsewhere) return;
  length_ -= queue.waiting.size();
  queue.waiting.clear();
  if (next != nullptr) queue.waiting.push_back(*next);
  length_ += queue.waiting.size();
  queue.elsewhere = elsewhere;
  UpdateFigures(number);
}

ClassScheduler::Entry ClassScheduler::Push(const WaitingRequest& request) {
  NoteArrival(request, /*is_refused=*/false);
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
  if (queue.waiting.size() == 1) UpdateFigures(request.service_class);
  figures_[request.service_class].length = queue.waiting.size();
  return entry;
}

TimePoint ClassScheduler::UntilOf(const WaitingRequest& request) const {
  const Duration yield_deadline = figures_[request.service_class].yield_deadline;
  if (yield_deadline == Duration::max()) return request.deadline;
  return std::min(request.deadline, request.arrived + yield_deadline);
}

double ClassScheduler::YieldIfServed(ClassNumber number, TimePoint now) const {
  const ClassQueue& queue = queues_[number];
  if (queue.expected.mean_service() > TimeLeft(figures_[number].until, now)) return 0;
  return queue.expected.WithMeanService(now - queue.waiting.front().arrived);
}

// Returns the first moment at which the oldest request is late, or would yield too little after the
// mean service time: YieldIfServed and its threshold, solved for the time.
TimePoint ClassScheduler::DropTime(ClassNumber number) const {
  const ClassQueue& queue = queues_[number];
  const TimePoint until = figures_[number].until;
  if (!options_.drop_share) return until;
  const Duration mean_service = queue.expected.mean_service();
  TimePoint drop_from = until;
  if (until != kNever) drop_from = std::min(until, until - mean_service + Duration(1));
  if (!queue.useful_for) return drop_from;
  const TimePoint arrived = queue.waiting.front().arrived;
  return std::min(drop_from, arrived + *queue.useful_for - mean_service + Duration(1));
}

void ClassScheduler::UpdateFigures(ClassNumber number) {
  const ClassQueue& queue = queues_[number];
  ClassFigures& figures = figures_[number];
  figures.length = queue.waiting.empty() ? 0 : queue.waiting.size() + queue.elsewhere;
  consumption_ns_[number] = std::max(1.0, queue.consumed_ns.value());
  figures.until = queue.waiting.empty() ? kNever : UntilOf(queue.waiting.front());
  figures.drop_from = queue.waiting.empty() ? kNever : DropTime(number);
}

void ClassScheduler::DropOldest(ClassNumber number, TimePoint now, Picked* picked) {
  ClassQueue& queue = queues_[number];
  drops_.OnDrop(now);
  if (TimeLeft(figures_[number].until, now) > Duration(0)) queue.expected.Discount();
  picked->dropped.push_back(queue.waiting.front());
  queue.waiting.pop_front();
  --length_;
  UpdateFigures(number);
}

void ClassScheduler::Drop(TimePoint now, Picked* picked) {
  for (ClassNumber number = 0; number < figures_.size(); ++number) {
    while (now >= figures_[number].drop_from) DropOldest(number, now, picked);
  }
}

double ClassScheduler::GapOf(ClassNumber number) const {
  if (options_.policy == SchedulingPolicy::kWaitingCost) return credit_.Of(number);
  return figures_[number].guarantee - consumption_.Share(number);
}

// Returns the class with the largest gap between its guarantee and its share.
std::optional<ClassScheduler::Candidate> ClassScheduler::MostBelowGuarantee(
    TimePoint now, const ClassThreads& threads) const {
  std::optional<Candidate> most;
  double largest = 0;
  for (ClassNumber number = 0; number < figures_.size(); ++number) {
    if (!MayRun(number, threads)) continue;
    const double gap = GapOf(number);
    if (gap <= largest) continue;
    largest = gap;
    most = {number};
  }
  // A guarantee is worth nothing if the request is served too late.
  if (most && options_.policy == SchedulingPolicy::kWaitingCost) {
    most = CostlierOf(most->service_class, BacklogAt(now), now);
  }
  return most;
}

double ClassScheduler::PriorityOf(SchedulingPolicy policy, ClassNumber number,
                                  TimePoint now) const {
  if (policy == SchedulingPolicy::kFifo) {
    return static_cast<double>(queues_[number].waiting.front().arrived.time_since_epoch().count());
  }
  const auto left = static_cast<double>(TimeLeft(figures_[number].until, now).count());
  if (policy == SchedulingPolicy::kEdf) return left;
  const double yield = YieldIfServed(number, now);
  if (yield <= 0) return kNeverFirst;
  return (policy == SchedulingPolicy::kYid ? left : consumption_ns_[number]) / yield;
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
  for (ClassNumber number = 0; number < figures_.size(); ++number) {
    if (!MayRun(number, threads)) continue;
    const double priority = PriorityOf(policy, number, now);
    if (first && priority >= smallest) continue;
    smallest = priority;
    first = {number};
  }
  return first;
}

double ClassScheduler::CostOfWaiting(const WaitingRequest& request, double delay_steps,
                                     TimePoint now) const {
  const ExpectedYield& expected = queues_[request.service_class].expected;
  const double waited_steps = expected.StepOf(now - request.arrived);
  const double now_yields = expected.AtStep(waited_steps);
  const double later_yields = expected.AtStep(waited_steps + delay_steps);
  const double left_ns =
      std::max(1.0, static_cast<double>(TimeLeft(UntilOf(request), now).count()));
  return (now_yields - later_yields) / consumption_ns_[request.service_class] +
         kUrgency * now_yields / left_ns;
}

ClassScheduler::Backlog ClassScheduler::BacklogAt(TimePoint now) const {
  double backlog_s = 0;
  for (ClassNumber number = 0; number < figures_.size(); ++number) {
    backlog_s += static_cast<double>(figures_[number].length) * consumption_ns_[number] / 1e9;
  }
  const double demand = demand_.Value(now) / demand_.MeanAgeSeconds() / options_.capacity;
  return {.drain_s = backlog_s / options_.capacity, .excess = std::max(0.0, demand - 1)};
}

ClassScheduler::Candidate ClassScheduler::CostlierOf(ClassNumber number, const Backlog& backlog,
                                                     TimePoint now) const {
  const std::deque<WaitingRequest>& waiting = queues_[number].waiting;
  const Duration deadline = figures_[number].yield_deadline;
  const double delay_s =
      backlog.drain_s + (deadline != Duration::max() ? backlog.excess * ToSeconds(deadline) : 0);
  const double delay_steps = queues_[number].expected.StepOf(FromSeconds(delay_s));
  const double oldest = CostOfWaiting(waiting.front(), delay_steps, now);
  const double newest =
      waiting.size() == 1 ? oldest : CostOfWaiting(waiting.back(), delay_steps, now);
  return {.service_class = number, .is_newest = newest > oldest, .cost = std::max(oldest, newest)};
}

std::optional<ClassScheduler::Candidate> ClassScheduler::CostliestToWait(
    TimePoint now, const ClassThreads& threads) const {
  const Backlog backlog = BacklogAt(now);
  std::optional<Candidate> first;
  for (ClassNumber number = 0; number < figures_.size(); ++number) {
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
  UpdateFigures(chosen->service_class);
  if (options_.policy == SchedulingPolicy::kWaitingCost) {
    credit_.OnPicked(chosen->service_class, consumption_ns_);
  }
  NotePick(now);
  return picked;
}

bool ClassScheduler::Remove(RequestTicket ticket) {
  for (ClassNumber number = 0; number < queues_.size(); ++number) {
    ClassQueue& queue = queues_[number];
    const auto found =
        std::find_if(queue.waiting.begin(), queue.waiting.end(),
                     [&](const WaitingRequest& request) { return request.ticket == ticket; });
    if (found == queue.waiting.end()) continue;
    queue.waiting.erase(found);
    --length_;
    UpdateFigures(number);
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
  UpdateFigures(service_class);
}

TimePoint ClassScheduler::OldestArrival() const {
  TimePoint oldest = kNever;
  for (const ClassQueue& queue : queues_) {
    if (!queue.waiting.empty()) oldest = std::min(oldest, queue.waiting.front().arrived);
  }
  return oldest;
}

}  // namespace neptune
