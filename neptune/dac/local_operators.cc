#include "neptune/dac/local_operators.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "neptune/service/service_host.h"

namespace neptune {
namespace {

// Operators that take less on average share requests: in time, waits included, and in processor
// time. Larger: fewer hand-overs, but operators that wait do not run beside each other.
constexpr Duration kSharedTimeMax = std::chrono::milliseconds(5);
constexpr Duration kSharedWorkMax = std::chrono::milliseconds(1);

}  // namespace

// Shared by the requests of all operators: their cancellation, the measurement of their costs, and
// the place that their threads visit.
class LocalOperators::LocalCall final : public IncomingCall {
 public:
  LocalCall(CostMeter& costs, ServiceName service, std::shared_ptr<ReductionPlace> place)
      : costs_(costs), service_(std::move(service)), place_(std::move(place)) {}

  bool measures_work() const override { return true; }
  void OnWorked(Duration work) override { costs_.AddLocal(service_, work); }
  void OnServed() override {
    if (place_ != nullptr) place_->OnLocalServed();
  }
  void Close() {
    if (place_ != nullptr) place_->Close();
  }

 private:
  CostMeter& costs_;
  const ServiceName service_;
  const std::shared_ptr<ReductionPlace> place_;
};

LocalOperators::LocalOperators(AggregationEnvironment& environment, const NodeTask& task,
                               NodeLoop& loop, TaskWork& work, Reductions& results)
    : environment_(environment), task_(task), loop_(loop), work_(work), results_(results) {}

LocalOperators::~LocalOperators() { Close(); }

size_t LocalOperators::RequestCount() const {
  const size_t own_count = task_.own.size();
  // A place keeps the thread of each operator.
  if (results_.place() != nullptr) return own_count;
  const auto time = environment_.operator_times.MeanOf(task_.service, task_.plan.local);
  const Duration work = environment_.costs.Of(task_.service).local;
  if (!time || *time > kSharedTimeMax || work > kSharedWorkMax) return own_count;
  return std::min(own_count, environment_.loops.workers().size());
}

void LocalOperators::Start(const std::shared_ptr<void>& owner) {
  const std::vector<PartitionId>& own = task_.own;
  if (own.empty()) return;
  owner_ = owner;
  settled_.resize(own.size());
  call_ = std::make_shared<LocalCall>(environment_.costs, task_.service, results_.place());
  const size_t count = RequestCount();
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = i * own.size() / count;
    const size_t end = (i + 1) * own.size() / count;
    std::vector<PartitionId> partitions(own.data() + begin, own.data() + end);
    requests_.push_back({begin, std::make_shared<PartitionBatch>(std::move(partitions))});
  }
  for (size_t i = 0; i < count && !results_.closed(); ++i) Dispatch(i);
}

void LocalOperators::Dispatch(size_t number) {
  IncomingRequest request;
  request.header.service = task_.service;
  request.header.method = task_.plan.local;
  request.header.service_class = task_.service_class;
  request.header.trace = task_.trace;
  request.header.retried = task_.retried;
  request.header.waited = task_.waited;
  request.payload = task_.plan.local_parameters;
  request.received = loop_.loop->Now();
  request.deadline = task_.deadline;
  request.call = call_;
  request.reply = Reply(loop_.loop, std::shared_ptr<ReplyTaker>(owner_.lock(), this), number);
  task_.host->Dispatch(std::move(request), requests_[number].batch);
}

void LocalOperators::HandleReply(uint64_t number, const ResponseHeader& header, std::string&&) {
  Shared& shared = requests_[number];
  if (results_.closed() || std::exchange(shared.is_answered, true)) return;
  const auto self = owner_.lock();
  if (header.status.ok()) {
    environment_.operator_times.Add(task_.service, task_.plan.local, header.run_time,
                                    shared.batch->size());
  }
  queue_time_ = std::max<Duration>(queue_time_, header.queue_time);
  SettleFinished(shared);
  for (size_t i = 0; i < shared.batch->size(); ++i) {
    if (!settled_[shared.first + i]) Settle(shared.first + i, {.status = header.status});
  }
  results_.Advance();
}

bool LocalOperators::SettleFinished() {
  bool has_any = false;
  for (Shared& shared : requests_) {
    if (!shared.is_answered && SettleFinished(shared)) has_any = true;
  }
  return has_any;
}

bool LocalOperators::SettleFinished(Shared& shared) {
  bool has_any = false;
  for (size_t i = 0; i < shared.batch->size(); ++i) {
    if (settled_[shared.first + i] || !shared.batch->is_finished(i)) continue;
    Settle(shared.first + i, shared.batch->Take(i));
    has_any = true;
  }
  return has_any;
}

void LocalOperators::Settle(size_t index, PartitionBatch::Outcome outcome) {
  settled_[index] = true;
  ++settled_count_;
  if (!outstanding()) results_.OnLocalsEnded();
  work_.SettleLocal();
  end_ = loop_.loop->Now() - task_.received;
  const PartitionId partition = task_.own[index];
  if (outcome.ended_early) ended_early_.push_back(partition);
  AggregationProgress& progress = results_.progress();
  if (outcome.status.ok()) {
    progress.Settle(/*local=*/true, std::move(outcome.result), {partition});
  } else {
    progress.Miss({{partition, outcome.status}});
    progress.Settle(/*local=*/true, std::nullopt, {});
  }
}

void LocalOperators::Cancel() {
  if (call_ != nullptr && outstanding()) call_->Cancel();
}

void LocalOperators::Close() {
  if (call_ != nullptr) call_->Close();
}

}  // namespace neptune
