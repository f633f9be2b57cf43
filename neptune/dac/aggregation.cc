#include "neptune/dac/aggregation.h"

#include <glog/logging.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/dac/aggregation_child.h"
#include "neptune/thread/work_meter.h"

namespace neptune {
namespace {

Duration WorkOf(const CostMeter::Means& means, size_t own_count, size_t child_count) {
  if (own_count == 0) return Duration(0);
  const auto reductions = static_cast<int64_t>(own_count + child_count - 1);
  return means.local * static_cast<int64_t>(own_count) + means.reduce * reductions;
}

}  // namespace

StatusOr<AggregationCounters> AggregationCounters::Make(MetricsRegistry& metrics) {
  AggregationCounters counters;
  const auto add = [&](Counter** counter, const char* name, const char* help) -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(*counter, metrics.AddCounter(name, help, {}));
    return OkStatus();
  };
  NEPTUNE_RETURN_IF_ERROR(add(&counters.pruned_children, "neptune_dac_pruned_children_total",
                              "Children of aggregations pruned without an answer."));
  NEPTUNE_RETURN_IF_ERROR(add(&counters.adopted_children, "neptune_dac_adopted_children_total",
                              "Children of a lost child adopted by its parent."));
  NEPTUNE_RETURN_IF_ERROR(add(&counters.lost_datagrams, "neptune_dac_lost_datagrams_total",
                              "Children that had not received their task datagram."));
  NEPTUNE_RETURN_IF_ERROR(add(&counters.silent_children, "neptune_dac_silent_children_total",
                              "Children that did not accept their task in time."));
  NEPTUNE_RETURN_IF_ERROR(add(&counters.moved_partitions, "neptune_dac_moved_partitions_total",
                              "Partitions of a lost child moved to another replica."));
  NEPTUNE_RETURN_IF_ERROR(add(&counters.order_errors, "neptune_dac_order_errors_total",
                              "Reductions whose result depended on the operand order."));
  return counters;
}

// Shared by the node's own local operators: their cancellation and, for the blocking baseline, the
// waiting thread.
class Aggregation::LocalCall final : public IncomingCall {
 public:
  LocalCall(bool blocking, std::weak_ptr<Aggregation> owner, Loop& home, CostMeter& costs,
            ServiceName service)
      : blocking_(blocking),
        owner_(std::move(owner)),
        home_(home),
        costs_(costs),
        service_(std::move(service)) {}

  bool measures_work() const override { return true; }
  void OnWorked(Duration work) override { costs_.AddLocal(service_, work); }

  void OnServed() override {
    if (!blocking_ || has_thread_.exchange(true)) return;
    {
      LeafLock lock(&mutex_);
      thread_ = ThreadRef(UserThread::Current());
    }
    while (!ended_) {
      if (auto reduction = Take()) {
        Run(*std::move(reduction));
      } else if (this_thread::Park() == ParkResult::kStopping) {
        return;
      }
    }
  }

  bool has_thread() const { return has_thread_; }
  void Give(AggregationProgress::Reduction reduction) {
    LeafLock lock(&mutex_);
    reduction_ = std::move(reduction);
    if (thread_) thread_->Wake();
  }
  void End() {
    ended_ = true;
    LeafLock lock(&mutex_);
    if (thread_) thread_->Wake();
  }

 private:
  std::optional<AggregationProgress::Reduction> Take() {
    LeafLock lock(&mutex_);
    return std::exchange(reduction_, std::nullopt);
  }
  void Run(AggregationProgress::Reduction inputs) {
    const auto owner = owner_.lock();
    if (owner == nullptr) return;
    Reduced reduced = owner->RunReduce(inputs.first, inputs.second);
    home_.Post([to = owner_, reduced = std::move(reduced)]() mutable {
      if (const auto owner = to.lock()) owner->HandleReduced(std::move(reduced));
    });
  }

  const bool blocking_;
  const std::weak_ptr<Aggregation> owner_;
  Loop& home_;
  CostMeter& costs_;
  const ServiceName service_;
  std::atomic<bool> has_thread_{false};
  std::atomic<bool> ended_{false};
  LeafMutex mutex_;
  ThreadRef thread_ ABSL_GUARDED_BY(mutex_);
  std::optional<AggregationProgress::Reduction> reduction_ ABSL_GUARDED_BY(mutex_);
};

Aggregation::Aggregation(Environment& environment, Options options, OnEnd on_end)
    : environment_(environment),
      options_(std::move(options)),
      on_end_(std::move(on_end)),
      loop_(environment.loops.Current()),
      reduce_parameters_(options_.plan.reduce_parameters),
      means_(environment.costs.Of(options_.service)),
      pending_work_(environment.costs,
                    WorkOf(means_, options_.own.size(), options_.children.size())) {
  record_.child_count = static_cast<uint16_t>(options_.children.size());
  expected_ = options_.own;
  for (const Options::Child& child : options_.children) AppendPartitions(child.members, &expected_);
}

Aggregation::~Aggregation() {
  CancelTimers();
  if (local_call_ != nullptr) local_call_->End();
}

void Aggregation::Start() {
  const auto self = shared_from_this();
  if (options_.deadline != kNever) {
    timer_ = loop_.loop->RunAt(options_.deadline, [this] {
      timer_ = 0;
      const auto self = shared_from_this();
      Expire(DeadlineExceeded("no result by the deadline"), /*failed=*/true);
    });
  }
  if (!options_.children.empty()) {
    environment_.give_up_budget.OnCall();
    environment_.loss_budget.OnCall();
  }
  // All sources are counted before the first one can settle.
  for (size_t i = 0; i < options_.own.size(); ++i) progress_.Expect(/*local=*/true);
  for (size_t i = 0; i < options_.children.size(); ++i) progress_.Expect(/*local=*/false);
  for (const Options::Child& child : options_.children) AddChild(child, 1, std::nullopt);
  StartLocals();
  Advance();
}

void Aggregation::StartLocals() {
  if (options_.own.empty()) return;
  own_settled_.resize(options_.own.size());
  local_call_ = std::make_shared<LocalCall>(options_.plan.blocking, weak_from_this(), *loop_.loop,
                                            environment_.costs, options_.service);
  for (size_t i = 0; i < options_.own.size() && !ended_; ++i) {
    IncomingRequest request;
    request.header.service = options_.service;
    request.header.partition = options_.own[i];
    request.header.method = options_.plan.local;
    request.header.service_class = options_.service_class;
    request.header.trace = options_.trace;
    request.header.retried = options_.retried;
    request.header.waited = options_.waited;
    request.payload = options_.plan.local_parameters;
    request.received = Now();
    request.deadline = options_.deadline;
    request.call = local_call_;
    request.reply = Reply(loop_.loop, weak_from_this(), i);
    options_.host->Dispatch(std::move(request));
  }
}

void Aggregation::HandleReply(uint64_t own_index, const ResponseHeader& header,
                              std::string payload) {
  if (ended_ || own_settled_[own_index]) return;
  const auto self = shared_from_this();
  own_settled_[own_index] = true;
  pending_work_.Settle(means_.local);
  record_.queue_time = std::max<Duration>(record_.queue_time, header.queue_time);
  record_.local_end = Now() - options_.received;
  const PartitionId partition = options_.own[own_index];
  if (header.ended_early) ended_early_.push_back(partition);
  if (header.status.ok()) {
    progress_.Settle(/*local=*/true, Data(std::move(payload)), {partition});
  } else {
    progress_.Miss({{partition, header.status}});
    progress_.Settle(/*local=*/true, std::nullopt, {});
  }
  Advance();
}

void Aggregation::Advance() {
  if (ended_) return;
  if (progress_.missing_count() > options_.plan.missing_count_max && !progress_.closed()) {
    return Expire(Cancelled("the call misses too many partitions"), /*failed=*/false);
  }
  while (auto inputs = progress_.NextReduction()) {
    if (!Reduce(*std::move(inputs))) return;
  }
  if (progress_.done()) Finish();
}

bool Aggregation::HasOwnOutstanding() const {
  return std::find(own_settled_.begin(), own_settled_.end(), false) != own_settled_.end();
}

// Returns true if the reduction was done at once; otherwise HandleReduced follows.
bool Aggregation::Reduce(AggregationProgress::Reduction inputs) {
  if (options_.plan.blocking && local_call_ != nullptr &&
      (HasOwnOutstanding() || local_call_->has_thread())) {
    local_call_->Give(std::move(inputs));
    return false;
  }
  if (options_.reduce.options.grain == Grain::kShort) {
    EndReduction(RunReduce(inputs.first, inputs.second));
    return true;
  }
  auto run = [to = weak_from_this(), home = loop_.loop,
              inputs = std::move(inputs)](const Status& may_run) {
    const auto self = to.lock();
    if (self == nullptr) return;
    Reduced reduced =
        may_run.ok() ? self->RunReduce(inputs.first, inputs.second) : Reduced{may_run};
    home->Post([to, reduced = std::move(reduced)]() mutable {
      if (const auto self = to.lock()) self->HandleReduced(std::move(reduced));
    });
  };
  if (options_.host != nullptr) {
    options_.host->RunEvent(std::move(run));
    return false;
  }
  const auto started = loop_.scheduler->Spawn([run]() mutable { run(OkStatus()); });
  if (!started.ok()) EndReduction({started.status()});
  return !started.ok();
}

void Aggregation::HandleReduced(Reduced reduced) {
  if (ended_) return;
  const auto self = shared_from_this();
  EndReduction(std::move(reduced));
  Advance();
}

void Aggregation::EndReduction(Reduced reduced) {
  pending_work_.Settle(means_.reduce);
  if (!HasOwnOutstanding()) record_.reducing += reduced.took;
  StatusOr<Data>& combined = reduced.combined;
  if (!combined.ok()) {
    combined = Annotate(combined.status(), StrCat("reducing results of ", options_.service));
  }
  progress_.Reduced(std::move(combined));
}

Aggregation::Reduced Aggregation::RunReduce(const Data& first, const Data& second) {
  const Loop& here = *Loop::Current();
  const TimePoint begin = here.Now();
  StatusOr<Data> combined = MeterReduce(first, second);
  return {std::move(combined), here.Now() - begin};
}

StatusOr<Data> Aggregation::MeterReduce(const Data& first, const Data& second) {
  const WorkMeter meter;
  StatusOr<Data> combined = CallReduce(first, second);
  environment_.costs.AddReduce(options_.service, meter.Read());
  if (combined.ok()) NEPTUNE_RETURN_IF_ERROR(CheckOrder(first, second, *combined));
  return combined;
}

// Converts an exception of the operator to an error of this aggregation.
StatusOr<Data> Aggregation::CallReduce(const Data& first, const Data& second) const {
  Data combined;
  try {
    NEPTUNE_RETURN_IF_ERROR(options_.reduce.function(first, second, reduce_parameters_, &combined));
  } catch (const std::exception& error) {
    return Internal("operator ", options_.plan.reduce, " threw: ", error.what());
  } catch (...) {
    return Internal("operator ", options_.plan.reduce, " threw");
  }
  return combined;
}

// Repeats a sample of reductions in the other order.
Status Aggregation::CheckOrder(const Data& first, const Data& second, const Data& combined) {
  if (environment_.recheck_one_in == 0 ||
      environment_.reduction_count.fetch_add(1) % environment_.recheck_one_in != 0) {
    return OkStatus();
  }
  const StatusOr<Data> swapped = CallReduce(second, first);
  if (swapped.ok() && swapped->bytes() == combined.bytes()) return OkStatus();
  environment_.counters.order_errors->Increment();
  const Status error = Internal("operator ", options_.plan.reduce,
                                " is not commutative: its result depends on the operand order");
  LOG(ERROR) << error;
  return error;
}

// Stops waiting for everything except the reduction in progress.
void Aggregation::Expire(const Status& reason, bool failed) {
  if (ended_) return;
  why_missing_ = reason;
  progress_.Expire();
  CloseBelow(failed);
  Advance();
}

void Aggregation::Cancel() {
  if (ended_) return;
  const auto self = shared_from_this();
  ended_ = true;
  CancelTimers();
  CloseBelow(/*failed=*/false);
  on_end_({Cancelled("the aggregation was cancelled"), {}, Duration(0), std::nullopt});
}

void Aggregation::CancelTimers() {
  for (TimerId* const timer : {&timer_, &accept_timer_}) {
    if (*timer != 0) loop_.loop->CancelTimer(std::exchange(*timer, 0));
  }
}

// Prunes the unsettled children and cancels their work.
void Aggregation::CloseBelow(bool failed) {
  for (const auto& child : children_) {
    if (child->settled) continue;
    child->settled = true;
    environment_.counters.pruned_children->Increment();
    child->ConcludeChoice(nullptr, failed);
    child->LeaveCapsule(failed ? CapsuleOutcome::kTimedOut : CapsuleOutcome::kCancelled);
    child->Forget(/*tell_server=*/true);
  }
  if (local_call_ == nullptr) return;
  if (HasOwnOutstanding()) local_call_->Cancel();
  if (ended_) local_call_->End();
}

void Aggregation::Finish() {
  ended_ = true;
  CancelTimers();
  CloseBelow(/*failed=*/false);
  AggregationProgress::Outcome outcome = progress_.ReleaseOutcome();
  AggregationAnswer answer{outcome.reduce_error,
                           std::move(outcome.contributing),
                           std::move(outcome.missing),
                           std::move(ended_early_),
                           {},
                           std::nullopt};
  Account(&answer);
  if (options_.host != nullptr) answer.records.push_back(OwnRecord());
  std::move(records_.begin(), records_.end(), std::back_inserter(answer.records));
  on_end_({OkStatus(), std::move(answer), record_.reducing, std::move(outcome.result)});
}

// Normalises the answer: every expected partition either contributed or is missing, exactly once,
// whatever the children reported. Partitions that are not expected here are removed from
// `ended_early`.
void Aggregation::Account(AggregationAnswer* answer) const {
  std::vector<PartitionId> left = expected_;
  std::sort(left.begin(), left.end());
  std::vector<bool> taken(left.size());
  const auto take = [&](const PartitionId& partition) {
    const auto found = std::lower_bound(left.begin(), left.end(), partition);
    if (found == left.end() || *found != partition) return false;
    const auto index = static_cast<size_t>(found - left.begin());
    if (taken[index]) return false;
    taken[index] = true;
    return true;
  };
  std::erase_if(answer->contributing, [&](const PartitionId& p) { return !take(p); });
  std::erase_if(answer->missing, [&](const MissingPartition& m) { return !take(m.partition); });
  for (size_t i = 0; i < left.size(); ++i) {
    if (!taken[i]) answer->missing.push_back({left[i], why_missing_});
  }
  std::vector<PartitionId>& early = answer->ended_early;
  std::sort(early.begin(), early.end());
  early.erase(std::unique(early.begin(), early.end()), early.end());
  std::erase_if(early, [&](const PartitionId& p) {
    return !std::binary_search(left.begin(), left.end(), p);
  });
}

MemberRecord Aggregation::OwnRecord() {
  record_.load_index = environment_.loops.load_index();
  record_.pending = environment_.costs.pending();
  const CostMeter::Means means = environment_.costs.Of(options_.service);
  record_.local_cost = means.local;
  record_.reduce_cost = means.reduce;
  record_.processor_count = static_cast<uint16_t>(environment_.processor_count);
  record_.node = environment_.node;
  record_.answered = Now() - options_.received;
  record_.reduction_count = static_cast<uint16_t>(progress_.reduction_count());
  return record_;
}

}  // namespace neptune
