#include "neptune/dac/aggregation.h"

#include <iterator>
#include <utility>

#include "neptune/dac/partition_account.h"
#include "neptune/dac/subtree.h"

namespace neptune {
namespace {

// All partitions of the task: the node's own, and those below.
std::vector<PartitionId> PartitionsOf(const NodeTask& task) {
  std::vector<PartitionId> partitions = task.own;
  for (const Subtree& child : task.children) AppendPartitions(child.members, &partitions);
  return partitions;
}

}  // namespace

Aggregation::Aggregation(AggregationEnvironment& environment, NodeTask task, OnEnd on_end)
    : environment_(environment),
      task_(std::move(task)),
      on_end_(std::move(on_end)),
      loop_(environment.loops.Current()),
      work_(environment.costs, task_.service, task_.own.size(), task_.children.size()),
      results_(environment, task_, loop_, work_,
               [this](Reductions::Turn turn) { HandleTurn(turn); }),
      locals_(environment, task_, loop_, work_, results_),
      children_(environment, task_, loop_, results_) {}

Aggregation::~Aggregation() {
  if (deadline_timer_ != 0) loop_.loop->CancelTimer(deadline_timer_);
}

void Aggregation::Start() {
  const auto self = shared_from_this();
  if (task_.deadline != kNever) {
    deadline_timer_ = loop_.loop->RunAt(task_.deadline, [this] {
      deadline_timer_ = 0;
      const auto self = shared_from_this();
      Expire(DeadlineExceeded("no result by the deadline"), /*failed=*/true);
    });
  }
  results_.Begin(self);
  // All sources are counted before the first one can settle.
  AggregationProgress& progress = results_.progress();
  for (size_t i = 0; i < task_.own.size(); ++i) progress.Expect(/*local=*/true);
  for (size_t i = 0; i < task_.children.size(); ++i) progress.Expect(/*local=*/false);
  children_.Start(self);
  locals_.Start(self);
  results_.Advance();
}

void Aggregation::HandleTurn(Reductions::Turn turn) {
  if (turn == Reductions::Turn::kDone) return Finish();
  Expire(Cancelled("the call misses too many partitions"), /*failed=*/false);
}

void Aggregation::Expire(const Status& reason, bool failed) {
  if (results_.closed()) return;
  if (locals_.SettleFinished()) {
    results_.Advance();
    if (results_.closed()) return;
  }
  why_missing_ = reason;
  results_.progress().Expire();
  CloseBelow(failed);
  results_.Advance();
}

void Aggregation::Cancel() {
  if (results_.closed()) return;
  const auto self = shared_from_this();
  EndAll();
  on_end_({Cancelled("the aggregation was cancelled"), {}, Duration(0), std::nullopt});
}

void Aggregation::CloseBelow(bool failed) {
  children_.Close(failed);
  locals_.Cancel();
}

void Aggregation::EndAll() {
  results_.Close();
  if (deadline_timer_ != 0) loop_.loop->CancelTimer(std::exchange(deadline_timer_, 0));
  CloseBelow(/*failed=*/false);
  locals_.Close();
}

void Aggregation::Finish() {
  EndAll();
  AggregationProgress::Outcome outcome = results_.progress().ReleaseOutcome();
  AggregationAnswer answer = ReleaseAnswer(&outcome);
  on_end_({OkStatus(), std::move(answer), results_.time_after_locals(), std::move(outcome.result)});
}

AggregationAnswer Aggregation::ReleaseAnswer(AggregationProgress::Outcome* outcome) {
  AggregationAnswer answer{outcome->reduce_error,
                           std::move(outcome->contributing),
                           std::move(outcome->missing),
                           children_.ReleaseEndedEarly(),
                           {},
                           std::nullopt};
  answer.ended_early.insert(answer.ended_early.end(), locals_.ended_early().begin(),
                            locals_.ended_early().end());
  BalanceAccount(PartitionsOf(task_), why_missing_, &answer);
  std::vector<MemberRecord> below = children_.ReleaseRecords();
  if (task_.host == nullptr) {
    answer.records = std::move(below);
    return answer;
  }
  answer.records.push_back(OwnRecord());
  std::move(below.begin(), below.end(), std::back_inserter(answer.records));
  return answer;
}

MemberRecord Aggregation::OwnRecord() {
  const CostMeter::Means means = environment_.costs.Of(task_.service);
  return {.node = environment_.node,
          .load_index = environment_.loops.load_index(),
          .processor_count = static_cast<uint16_t>(environment_.processor_count),
          .pending = environment_.costs.pending(),
          .local_cost = means.local,
          .reduce_cost = means.reduce,
          .queue_time = locals_.queue_time(),
          .local_end = locals_.end(),
          .answered = loop_.loop->Now() - task_.received,
          .reducing = results_.time_after_locals(),
          .reduction_count = static_cast<uint16_t>(results_.progress().reduction_count()),
          .child_count = static_cast<uint16_t>(task_.children.size())};
}

}  // namespace neptune
