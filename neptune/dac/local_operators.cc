#include "neptune/dac/local_operators.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "neptune/service/service_host.h"

namespace neptune {

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
    : costs_(environment.costs), task_(task), loop_(loop), work_(work), results_(results) {}

LocalOperators::~LocalOperators() { Close(); }

void LocalOperators::Start(const std::shared_ptr<void>& owner) {
  if (task_.own.empty()) return;
  owner_ = owner;
  settled_.resize(task_.own.size());
  call_ = std::make_shared<LocalCall>(costs_, task_.service, results_.place());
  const std::weak_ptr<ReplyTaker> taker = std::shared_ptr<ReplyTaker>(owner, this);
  for (size_t i = 0; i < task_.own.size() && !results_.closed(); ++i) {
    IncomingRequest request;
    request.header.service = task_.service;
    request.header.partition = task_.own[i];
    request.header.method = task_.plan.local;
    request.header.service_class = task_.service_class;
    request.header.trace = task_.trace;
    request.header.retried = task_.retried;
    request.header.waited = task_.waited;
    request.payload = task_.plan.local_parameters;
    request.received = loop_.loop->Now();
    request.deadline = task_.deadline;
    request.call = call_;
    request.reply = Reply(loop_.loop, taker, i);
    task_.host->Dispatch(std::move(request));
  }
}

void LocalOperators::HandleReply(uint64_t index, const ResponseHeader& header,
                                 std::string&& payload) {
  if (results_.closed() || settled_[index]) return;
  const auto self = owner_.lock();
  settled_[index] = true;
  ++settled_count_;
  if (!outstanding()) results_.OnLocalsEnded();
  work_.SettleLocal();
  queue_time_ = std::max<Duration>(queue_time_, header.queue_time);
  end_ = loop_.loop->Now() - task_.received;
  const PartitionId partition = task_.own[index];
  if (header.ended_early) ended_early_.push_back(partition);
  AggregationProgress& progress = results_.progress();
  if (header.status.ok()) {
    progress.Settle(/*local=*/true, Data(std::move(payload)), {partition});
  } else {
    progress.Miss({{partition, header.status}});
    progress.Settle(/*local=*/true, std::nullopt, {});
  }
  results_.Advance();
}

void LocalOperators::Cancel() {
  if (call_ != nullptr && outstanding()) call_->Cancel();
}

void LocalOperators::Close() {
  if (call_ != nullptr) call_->Close();
}

}  // namespace neptune
