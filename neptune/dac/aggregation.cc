#include "neptune/dac/aggregation.h"

#include <glog/logging.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/service/loop_client.h"
#include "neptune/thread/work_meter.h"

namespace neptune {
namespace {

// Before all replicas of a partition are tried once more, times the number of attempts.
constexpr Duration kRetryPause = std::chrono::milliseconds(10);

Duration WorkOf(const CostMeter::Means& means, size_t own_count, size_t child_count) {
  if (own_count == 0) return Duration(0);
  const auto reductions = static_cast<int64_t>(own_count + child_count - 1);
  return means.local * static_cast<int64_t>(own_count) + means.reduce * reductions;
}

// That of one node's server or of its peers, not of the call.
bool IsLoss(const Status& status) { return status.code() == StatusCode::kUnavailable; }

// Whoever is asked would say the same.
bool IsRefusal(const Status& status) {
  return status.code() == StatusCode::kNotFound || status.code() == StatusCode::kInvalidArgument;
}

void AppendPartitions(const std::vector<TreeMember>& members,
                      std::vector<PartitionId>* partitions) {
  for (const TreeMember& member : members) {
    partitions->insert(partitions->end(), member.partitions.begin(), member.partitions.end());
  }
}

}  // namespace

StatusOr<AggregationCounters> AggregationCounters::Make(MetricsRegistry& metrics) {
  AggregationCounters counters;
  const auto add = [&](Counter** counter, const char* name, const char* help) -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(*counter, metrics.AddCounter(name, help, {}));
    return OkStatus();
  };
  NEPTUNE_RETURN_IF_ERROR(add(&counters.pruned_children, "neptune_dac_pruned_children_total",
                              "Children of aggregations that were left out."));
  NEPTUNE_RETURN_IF_ERROR(add(&counters.adopted_children, "neptune_dac_adopted_children_total",
                              "Children of a lost child that were asked directly."));
  NEPTUNE_RETURN_IF_ERROR(
      add(&counters.lost_datagrams, "neptune_dac_lost_datagrams_total",
          "Children that did not have the task that they were told by datagram."));
  NEPTUNE_RETURN_IF_ERROR(add(&counters.silent_children, "neptune_dac_silent_children_total",
                              "Children that did not accept their task in time."));
  NEPTUNE_RETURN_IF_ERROR(add(&counters.moved_partitions, "neptune_dac_moved_partitions_total",
                              "Partitions of a lost child that were asked on another replica."));
  NEPTUNE_RETURN_IF_ERROR(add(&counters.order_errors, "neptune_dac_order_errors_total",
                              "Reductions whose result depended on the order."));
  return counters;
}

// One subtree, asked at its first member.
class Aggregation::Child final : public AnswerSink {
 public:
  Child(Aggregation& owner, Options::Child what, int attempt, std::optional<ReplicaChoice> choice)
      : owner_(owner),
        members(std::move(what.members)),
        deadline(what.deadline),
        attempt(attempt),
        choice_(choice) {}
  ~Child() override { Forget(/*tell_server=*/false); }

  const TreeMember& root() const { return members.front(); }

  Status Send(std::shared_ptr<ClientConnection> connection) {
    const Options& options = owner_.options_;
    RequestHeader header;
    header.service = options.service;
    header.partition = root().partitions.front();
    header.method = MethodName(std::string(kAggregateMethod));
    header.service_class = options.service_class;
    header.trace = options.trace;
    const Duration left = std::max(Duration(0), deadline - owner_.Now());
    header.time_left = std::chrono::microseconds(ToMicros(left));
    const auto call = connection->Call(EncodeRequestHeader(header), Payload(), this);
    if (!call.ok()) return call.status();
    call_ = *call;
    connection_ = std::move(connection);
    return OkStatus();
  }

  // The members of a subtree that takes a lost one's place were told of another tree: they begin anew.
  std::string Payload() const {
    const AggregationPlan& plan = owner_.options_.plan;
    if (by_reference) return EncodeReference(plan.dissemination);
    if (attempt == 1 || plan.dissemination == 0) return EncodeTask(plan, members);
    AggregationPlan anew = plan;
    anew.dissemination = 0;
    return EncodeTask(anew, members);
  }

  void OnAnswer(StatusOr<Frame> response) override {
    const auto connection = std::exchange(connection_, nullptr);
    const auto self = owner_.shared_from_this();
    owner_.TakeChildAnswer(*this, std::move(response), connection);
  }

  void OnAccepted() override { accepted = true; }

  void Forget(bool tell_server) {
    if (connection_ == nullptr) return;
    connection_->Forget(call_, tell_server);
    connection_ = nullptr;
  }

  void ConcludeChoice(const ResponseHeader* answer, bool failed) {
    if (!choice_) return;
    ReplicaChooser& chooser = owner_.loop_.client->chooser();
    if (answer != nullptr) {
      chooser.Answered(*choice_, answer->load_index, answer->run_time, answer->status);
    } else {
      chooser.Lost(*choice_, failed);
    }
    choice_.reset();
  }

 private:
  Aggregation& owner_;
  std::shared_ptr<ClientConnection> connection_;  // while the call is in flight
  uint64_t call_ = 0;

 public:
  const std::vector<TreeMember> members;
  const TimePoint deadline;
  const int attempt;
  TimePoint begun;
  bool by_reference = false;  // it was told by datagram, as far as one knows
  bool accepted = false;
  bool settled = false;

 private:
  std::optional<ReplicaChoice> choice_;
};

// What the node's own local operators share: their cancellation, and for the baseline the thread that waits.
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
    StatusOr<Data> combined = owner->RunReduce(inputs.first, inputs.second);
    home_.Post([to = owner_, combined = std::move(combined)]() mutable {
      if (const auto owner = to.lock()) owner->TakeReduced(std::move(combined));
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
  if (!options_.children.empty()) environment_.give_up_budget.OnCall();
  // Everything that will settle is counted before anything can.
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
    request.payload = options_.plan.local_parameters;
    request.received = Now();
    request.deadline = options_.deadline;
    request.call = local_call_;
    request.reply = Reply(loop_.loop, weak_from_this(), i);
    options_.host->Dispatch(std::move(request));
  }
}

void Aggregation::TakeReply(uint64_t own_index, const ResponseHeader& header, std::string payload) {
  if (ended_ || own_settled_[own_index]) return;
  const auto self = shared_from_this();
  own_settled_[own_index] = true;
  pending_work_.Settle(means_.local);
  record_.queue_time = std::max<Duration>(record_.queue_time, header.queue_time);
  record_.local_end = Now() - options_.received;
  const PartitionId partition = options_.own[own_index];
  if (header.status.ok()) {
    progress_.Settle(/*local=*/true, Data(std::move(payload)), {partition});
  } else {
    progress_.Miss({{partition, header.status}});
    progress_.Settle(/*local=*/true, std::nullopt, {});
  }
  Advance();
}

// REQUIRES: progress_ expects it.
void Aggregation::AddChild(Options::Child what, int attempt, std::optional<ReplicaChoice> choice) {
  children_.push_back(std::make_unique<Child>(*this, std::move(what), attempt, choice));
  Child& child = *children_.back();
  child.by_reference = options_.host != nullptr && attempt == 1 && options_.plan.dissemination != 0;
  child.begun = Now();
  WatchChildren(child.begun + environment_.accept_timeout);
  ConnectionCache& connections = loop_.client->connections();
  if (auto connection = connections.Find(child.root().at)) {
    const Status sent = child.Send(std::move(connection));
    if (!sent.ok()) LoseChild(child, sent);
    return;
  }
  // The thread that waits for a connection looks whether anybody still wants it.
  const auto started = loop_.scheduler->Spawn([to = weak_from_this(), &child, &connections,
                                               at = child.root().at, until = child.deadline] {
    auto connection = connections.Get(at, until);
    const auto self = to.lock();
    if (self == nullptr || self->ended_ || child.settled) return;
    if (!connection.ok() && self->loop_.client->FailsTooOften(at)) {
      self->environment_.client.Exclude(child.root().node);
    }
    const Status sent = connection.ok() ? child.Send(*std::move(connection)) : connection.status();
    if (!sent.ok()) self->LoseChild(child, sent);
    self->Advance();
  });
  if (!started.ok()) LoseChild(child, started.status());
}

void Aggregation::TakeChildAnswer(Child& child, StatusOr<Frame> frame,
                                  const std::shared_ptr<ClientConnection>& connection) {
  if (ended_ || child.settled) return;
  if (!frame.ok()) {
    LoseChild(child, frame.status());
    return Advance();
  }
  const StatusOr<ResponseHeader> header = DecodeResponseHeader(frame->section);
  Status status = header.ok() ? header->status : header.status();
  AggregationAnswer answer;
  if (status.ok()) {
    StatusOr<AggregationAnswer> decoded = DecodeAnswer(frame->payload);
    status = decoded.status();
    if (decoded.ok()) answer = *std::move(decoded);
  }
  if (child.by_reference && status.code() == StatusCode::kFailedPrecondition) {
    // The datagram was lost, or is late: the task itself follows.
    environment_.counters.lost_datagrams->Increment();
    child.by_reference = false;
    status = connection->usable() ? child.Send(connection) : Unavailable("the connection ended");
    if (status.ok()) return;
  }
  if (IsLoss(status)) {
    LoseChild(child, status);
  } else {
    child.ConcludeChoice(header.ok() ? &*header : nullptr, /*failed=*/true);
    if (IsRefusal(status)) answer.reduce_error = status;
    if (!status.ok()) MissSubtree(child, status);
    SettleChild(child, std::move(answer));
  }
  Advance();
}

void Aggregation::SettleChild(Child& child, AggregationAnswer answer) {
  child.settled = true;
  if (!answer.reduce_error.ok()) progress_.Fail(answer.reduce_error);
  progress_.Miss(std::move(answer.missing));
  for (const MemberRecord& record : answer.records) {
    // As of when that server answered; not counting the ways between.
    environment_.hearsay.Hear({record.node, record.pending / record.processor_count,
                               std::min(Now(), child.begun + record.answered)});
  }
  std::move(answer.records.begin(), answer.records.end(), std::back_inserter(records_));
  std::optional<Data> result;
  if (answer.result) result = Data(*std::move(answer.result));
  progress_.Settle(/*local=*/false, std::move(result), std::move(answer.contributing));
}

void Aggregation::MissSubtree(const Child& child, const Status& reason) {
  std::vector<PartitionId> partitions;
  AppendPartitions(child.members, &partitions);
  Miss(partitions, reason);
}

// The child is settled. One subtree takes its place, so that a caller without the operator has nothing to reduce:
// the lost child's first child, which had the largest subtree, with its siblings, and with leaves for the lost
// child's own partitions on other replicas.
void Aggregation::LoseChild(Child& child, const Status& reason) {
  child.settled = true;
  child.ConcludeChoice(nullptr, /*failed=*/true);
  lost_.insert(child.root().node);
  progress_.Expect(/*local=*/false);  // the replacement
  progress_.Settle(/*local=*/false, std::nullopt, {});
  if (child.attempt >= kAttemptsMax || child.deadline <= Now()) {
    Miss(child.root().partitions, reason);
    return Replace(child, {}, std::nullopt);
  }
  // On a thread of its own, since choosing a replica may wait.
  const auto started = loop_.scheduler->Spawn([to = weak_from_this(), &child, reason] {
    const auto self = to.lock();
    if (self == nullptr || self->ended_) return;
    self->MovePartitions(child, reason);
    self->Advance();
  });
  if (started.ok()) return;
  Miss(child.root().partitions, reason);
  Replace(child, {}, std::nullopt);
}

void Aggregation::Miss(const std::vector<PartitionId>& partitions, const Status& reason) {
  std::vector<MissingPartition> missing;
  for (const PartitionId& partition : partitions) missing.push_back({partition, reason});
  progress_.Miss(std::move(missing));
}

// Chooses replicas for the lost child's own partitions; those without are missing.
void Aggregation::MovePartitions(const Child& child, const Status& reason) {
  std::vector<TreeMember> leaves;
  std::optional<ReplicaChoice> choice;
  for (const PartitionId& partition : child.root().partitions) {
    const auto view = loop_.client->shared_view();
    const std::vector<Replica>& replicas = view->Replicas(options_.service, partition);
    choice = ChooseReplica(child, partition, replicas);
    if (ended_) return;
    if (!choice) {
      Miss({partition}, reason);
      continue;
    }
    environment_.counters.moved_partitions->Increment();
    const Replica& replica = replicas[choice->index];
    const auto same = [&](const TreeMember& leaf) { return leaf.node == replica.node; };
    auto leaf = std::find_if(leaves.begin(), leaves.end(), same);
    if (leaf == leaves.end()) {
      leaf = leaves.insert(leaves.end(), {replica.node, replica.call_endpoint, {}, 0});
    }
    leaf->partitions.push_back(partition);
  }
  const bool alone = child.members.size() == 1 && child.root().partitions.size() == 1;
  Replace(child, std::move(leaves), alone ? choice : std::nullopt);
}

// One that was not tried yet; when all were, any, after a pause if nothing else waits for it.
std::optional<ReplicaChoice> Aggregation::ChooseReplica(const Child& child, PartitionId partition,
                                                        const std::vector<Replica>& replicas) {
  if (replicas.empty()) return std::nullopt;
  ReplicaChooser& chooser = loop_.client->chooser();
  const std::vector<NodeId> tried(lost_.begin(), lost_.end());
  auto choice = chooser.Choose(options_.service, partition, replicas, tried, child.deadline);
  if (choice || ended_) return choice;
  if (child.members.size() == 1) {
    const TimePoint next = Now() + kRetryPause * static_cast<int64_t>(child.attempt);
    if (this_thread::SleepUntil(std::min(child.deadline, next)) == ParkResult::kStopping) {
      return std::nullopt;
    }
  }
  if (ended_) return std::nullopt;
  return chooser.Choose(options_.service, partition, replicas, {}, child.deadline);
}

void Aggregation::Replace(const Child& child, std::vector<TreeMember> leaves,
                          std::optional<ReplicaChoice> choice) {
  std::vector<TreeMember> members(child.members.begin() + 1, child.members.end());
  const size_t promoted_count = child.root().child_count;
  members.insert(members.end(), leaves.begin(), leaves.end());
  if (members.empty()) return progress_.Settle(/*local=*/false, std::nullopt, {});
  environment_.counters.adopted_children->Increment(promoted_count);
  const size_t subtree_count = promoted_count + leaves.size();
  members.front().child_count += static_cast<uint16_t>(subtree_count - 1);
  AddChild({std::move(members), child.deadline}, child.attempt + 1, choice);
}

void Aggregation::GiveUpSilentChildren() {
  if (ended_) return;
  const TimePoint now = Now();
  TimePoint next = kNever;
  const size_t count = children_.size();  // others come in place of those given up
  for (size_t i = 0; i < count; ++i) {
    Child& child = *children_[i];
    if (child.settled || child.accepted || !CanBeReplaced(child)) continue;
    const TimePoint due = child.begun + environment_.accept_timeout;
    if (due > now) {
      next = std::min(next, due);
    } else if (environment_.give_up_budget.Take()) {
      environment_.counters.silent_children->Increment();
      child.Forget(/*tell_server=*/true);
      LoseChild(child, Unavailable("node ", child.root().node, " did not accept its task within ",
                                   ToMicros(environment_.accept_timeout) / 1000, " ms"));
    }
  }
  if (next != kNever) WatchChildren(next);
  Advance();
}

void Aggregation::WatchChildren(TimePoint when) {
  if (accept_timer_ != 0 || ended_) return;
  accept_timer_ = loop_.loop->RunAt(when, [this] {
    accept_timer_ = 0;
    const auto self = shared_from_this();
    GiveUpSilentChildren();
  });
}

// Whether anybody gains if it is given up: those below it, or partitions with another replica.
bool Aggregation::CanBeReplaced(const Child& child) const {
  if (child.members.size() > 1) return true;
  const auto view = loop_.client->shared_view();
  for (const PartitionId& partition : child.root().partitions) {
    for (const Replica& replica : view->Replicas(options_.service, partition)) {
      if (!lost_.contains(replica.node) && replica.node != child.root().node) return true;
    }
  }
  return false;
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

// Whether it was done at once; else TakeReduced follows.
bool Aggregation::Reduce(AggregationProgress::Reduction inputs) {
  const bool own_outstanding =
      std::find(own_settled_.begin(), own_settled_.end(), false) != own_settled_.end();
  if (options_.plan.blocking && local_call_ != nullptr &&
      (own_outstanding || local_call_->has_thread())) {
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
    StatusOr<Data> combined =
        may_run.ok() ? self->RunReduce(inputs.first, inputs.second) : StatusOr<Data>(may_run);
    home->Post([to, combined = std::move(combined)]() mutable {
      if (const auto self = to.lock()) self->TakeReduced(std::move(combined));
    });
  };
  if (options_.host != nullptr) {
    options_.host->RunEvent(std::move(run));
    return false;
  }
  const auto started = loop_.scheduler->Spawn([run]() mutable { run(OkStatus()); });
  if (!started.ok()) EndReduction(started.status());
  return !started.ok();
}

void Aggregation::TakeReduced(StatusOr<Data> combined) {
  if (ended_) return;
  const auto self = shared_from_this();
  EndReduction(std::move(combined));
  Advance();
}

void Aggregation::EndReduction(StatusOr<Data> combined) {
  pending_work_.Settle(means_.reduce);
  if (!combined.ok()) {
    combined = Annotate(combined.status(), StrCat("reducing results of ", options_.service));
  }
  progress_.Reduced(std::move(combined));
}

StatusOr<Data> Aggregation::RunReduce(const Data& first, const Data& second) {
  const WorkMeter meter;
  StatusOr<Data> combined = CallReduce(first, second);
  environment_.costs.AddReduce(options_.service, meter.Read());
  if (combined.ok()) NEPTUNE_RETURN_IF_ERROR(CheckOrder(first, second, *combined));
  return combined;
}

// An operator that throws fails this aggregation, not the node.
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

// A sample of reductions is done in the other order too.
Status Aggregation::CheckOrder(const Data& first, const Data& second, const Data& combined) {
  if (environment_.recheck_one_in == 0 ||
      environment_.reduction_count.fetch_add(1) % environment_.recheck_one_in != 0) {
    return OkStatus();
  }
  const StatusOr<Data> swapped = CallReduce(second, first);
  if (swapped.ok() && swapped->bytes() == combined.bytes()) return OkStatus();
  environment_.counters.order_errors->Increment();
  const Status error = Internal("operator ", options_.plan.reduce,
                                " is not commutative: its result depends on the order");
  LOG(ERROR) << error;
  return error;
}

// Nothing more is waited for, but the reduction under way.
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
  on_end_({Cancelled("the aggregation was cancelled"), {}, std::nullopt});
}

void Aggregation::CancelTimers() {
  for (TimerId* const timer : {&timer_, &accept_timer_}) {
    if (*timer != 0) loop_.loop->CancelTimer(std::exchange(*timer, 0));
  }
}

// Whoever still works on it is told to stop.
void Aggregation::CloseBelow(bool failed) {
  for (const auto& child : children_) {
    if (child->settled) continue;
    child->settled = true;
    environment_.counters.pruned_children->Increment();
    child->ConcludeChoice(nullptr, failed);
    child->Forget(/*tell_server=*/!options_.plan.uncancelled);
  }
  if (local_call_ == nullptr) return;
  if (!options_.plan.uncancelled &&
      std::find(own_settled_.begin(), own_settled_.end(), false) != own_settled_.end()) {
    local_call_->Cancel();
  }
  if (ended_) local_call_->End();
}

void Aggregation::Finish() {
  ended_ = true;
  CancelTimers();
  CloseBelow(/*failed=*/false);
  AggregationProgress::Outcome outcome = progress_.TakeOutcome();
  AggregationAnswer answer{outcome.reduce_error,
                           std::move(outcome.contributing),
                           std::move(outcome.missing),
                           {},
                           std::nullopt};
  Account(&answer);
  if (options_.host != nullptr) answer.records.push_back(OwnRecord());
  std::move(records_.begin(), records_.end(), std::back_inserter(answer.records));
  on_end_({OkStatus(), std::move(answer), std::move(outcome.result)});
}

// Every partition either contributed or is missing, whatever others said; none is both, none is twice.
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
