#include "neptune/dac/aggregation_children.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/dac/subtree.h"
#include "neptune/service/call_path.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

// Pause before all replicas of a partition are tried once more, multiplied by the number of
// attempts.
constexpr Duration kRetryPause = std::chrono::milliseconds(10);

// True for an error of one server or its connection, rather than of the call.
bool IsLoss(const Status& status) { return status.code() == StatusCode::kUnavailable; }

// True for an error that every server would return.
bool IsRefusal(const Status& status) {
  return status.code() == StatusCode::kNotFound || status.code() == StatusCode::kInvalidArgument;
}

// A response as the aggregation sees it: an answer if the status is OK.
struct ChildResponse {
  Status status;
  AggregationAnswer answer;
};

ChildResponse Decode(const CallAnswer& answer) {
  ChildResponse response{answer.header.status, {}};
  if (!response.status.ok()) return response;
  StatusOr<AggregationAnswer> decoded = DecodeAnswer(answer.payload);
  response.status = decoded.status();
  if (decoded.ok()) response.answer = *std::move(decoded);
  return response;
}

}  // namespace

AggregationChildren::AggregationChildren(AggregationEnvironment& environment, const NodeTask& task,
                                         NodeLoop& loop, Reductions& results)
    : environment_(environment),
      task_(task),
      loop_(loop),
      results_(results),
      others_(task.service, loop) {}

AggregationChildren::~AggregationChildren() {
  if (watch_timer_ != 0) loop_.loop->CancelTimer(watch_timer_);
}

void AggregationChildren::Start(const std::shared_ptr<void>& owner) {
  if (task_.children.empty()) return;
  self_ = std::shared_ptr<AggregationChildren>(owner, this);
  environment_.give_up_budget.OnCall();
  environment_.loss_budget.OnCall();
  for (const Subtree& child : task_.children) Add(child, {});
}

// REQUIRES: the progress expects it.
void AggregationChildren::Add(Subtree subtree, ChildCall::Attempt attempt) {
  children_.push_back(
      std::make_unique<ChildCall>(*this, task_, loop_, std::move(subtree), std::move(attempt)));
  children_.back()->Start(environment_.client.capsules());
}

void AggregationChildren::Close(bool failed) {
  for (const auto& child : children_) {
    if (child->settled()) continue;
    child->Settle();
    environment_.counters.pruned_children->Increment();
    child->ConcludeChoice(nullptr, failed);
    child->LeaveCapsule(failed ? CapsuleOutcome::kTimedOut : CapsuleOutcome::kCancelled);
    child->Forget(/*tell_server=*/true);
  }
  if (closed() && watch_timer_ != 0) loop_.loop->CancelTimer(std::exchange(watch_timer_, 0));
}

void AggregationChildren::OnBegun(const ChildCall& child) {
  WatchUntil(child.begun() + environment_.accept_timeout);
}

void AggregationChildren::OnRefused(ChildCall& child, const Status& reason) {
  child.ConcludeChoice(nullptr, /*failed=*/false);
  if (CanBeReplaced(child)) return OnLost(child, reason);
  MissSubtree(child, reason);
}

// Replacing a child whose task was sent repeats work, and is charged to the budget.
void AggregationChildren::OnLost(ChildCall& child, const Status& reason) {
  if (!child.sent() || (!task_.retried && environment_.loss_budget.Take())) {
    return AskElsewhere(child, reason);
  }
  child.LeaveCapsule(CapsuleOutcome::kFailed);
  child.ConcludeChoice(nullptr, /*failed=*/true);
  MissSubtree(child, reason);
}

// Called when the capsule's timeout expires before the child's own deadline.
void AggregationChildren::OnPlaceTimeout(ChildCall& child, const Status& reason) {
  if (!closed() && !child.settled()) {
    child.LeaveCapsule(CapsuleOutcome::kTimedOut);
    child.Forget(/*tell_server=*/true);
    if (!task_.retried && CanBeReplaced(child) && environment_.give_up_budget.Take()) {
      AskElsewhere(child, reason);
    } else {
      child.ConcludeChoice(nullptr, /*failed=*/true);
      MissSubtree(child, reason);
    }
  }
  Advance();
}

void AggregationChildren::OnAnswer(ChildCall& child, StatusOr<CallAnswer> answer,
                                   const std::shared_ptr<CallChannel>& channel) {
  if (closed() || child.settled()) return;
  if (!answer.ok()) {
    OnLost(child, answer.status());
    return Advance();
  }
  ChildResponse response = Decode(*answer);
  if (Resend(child, channel, &response.status)) return;
  child.LeaveCapsule(OutcomeOf(response.status));
  if (IsLoss(response.status)) {
    OnLost(child, response.status);
  } else {
    child.ConcludeChoice(&answer->header, /*failed=*/true);
    if (IsRefusal(response.status)) response.answer.reduce_error = response.status;
    if (!response.status.ok()) MissMembers(child, response.status);
    Settle(child, std::move(response.answer));
  }
  Advance();
}

// Sends the task itself if the datagram was lost or is late; returns true if it was sent.
bool AggregationChildren::Resend(ChildCall& child, const std::shared_ptr<CallChannel>& channel,
                                 Status* status) {
  if (!child.by_reference() || status->code() != StatusCode::kFailedPrecondition) return false;
  environment_.counters.lost_datagrams->Increment();
  *status = child.SendTask(channel);
  return status->ok();
}

void AggregationChildren::Settle(ChildCall& child, AggregationAnswer answer) {
  child.Settle();
  AggregationProgress& progress = results_.progress();
  if (!answer.reduce_error.ok()) progress.Fail(answer.reduce_error);
  progress.Miss(std::move(answer.missing));
  ended_early_.insert(ended_early_.end(), answer.ended_early.begin(), answer.ended_early.end());
  for (const MemberRecord& record : answer.records) {
    // The load is as of that server's answer; network delays are ignored.
    environment_.gossip.Merge({record.node, record.pending / record.processor_count,
                               std::min(loop_.loop->Now(), child.begun() + record.answered)});
  }
  std::move(answer.records.begin(), answer.records.end(), std::back_inserter(records_));
  std::optional<Data> result;
  if (answer.result) result = Data(*std::move(answer.result));
  progress.Settle(/*local=*/false, std::move(result), std::move(answer.contributing));
}

void AggregationChildren::MissSubtree(ChildCall& child, const Status& reason) {
  child.Settle();
  MissMembers(child, reason);
  results_.progress().Settle(/*local=*/false, std::nullopt, {});
}

void AggregationChildren::MissMembers(const ChildCall& child, const Status& reason) {
  std::vector<PartitionId> partitions;
  AppendPartitions(child.members(), &partitions);
  Miss(partitions, reason);
}

void AggregationChildren::Miss(const std::vector<PartitionId>& partitions, const Status& reason) {
  std::vector<MissingPartition> missing;
  for (const PartitionId& partition : partitions) missing.push_back({partition, reason});
  results_.progress().Miss(std::move(missing));
}

// True if replacing the child helps: it has a subtree, or one of its partitions has another
// replica.
bool AggregationChildren::CanBeReplaced(const ChildCall& child) const {
  return child.members().size() > 1 || others_.Exist(child.root().partitions, child.root().node);
}

// Settles the child and replaces it by one subtree, so that a caller without the operator has
// nothing to reduce.
void AggregationChildren::AskElsewhere(ChildCall& child, const Status& reason) {
  child.Settle();
  child.LeaveCapsule(CapsuleOutcome::kFailed);
  child.ConcludeChoice(nullptr, /*failed=*/true);
  others_.Exclude(child.root().node);
  AggregationProgress& progress = results_.progress();
  progress.Expect(/*local=*/false);  // the replacement
  progress.Settle(/*local=*/false, std::nullopt, {});
  if (child.attempt() >= kAttemptsMax || child.deadline() <= loop_.loop->Now()) {
    Miss(child.root().partitions, reason);
    return Replace(child, {}, std::nullopt);
  }
  // On a separate thread, because choosing a replica may wait.
  const auto started = loop_.scheduler->Spawn([to = self_, &child, reason] {
    const auto self = to.lock();
    if (self == nullptr || self->closed()) return;
    self->MovePartitions(child, reason);
    self->Advance();
  });
  if (started.ok()) return;
  Miss(child.root().partitions, reason);
  Replace(child, {}, std::nullopt);
}

// Chooses replicas for the lost child's own partitions; partitions without one are missing.
void AggregationChildren::MovePartitions(const ChildCall& child, const Status& reason) {
  const bool alone = child.members().size() == 1 && child.root().partitions.size() == 1;
  std::vector<TreeMember> leaves;
  std::optional<ReplicaChoice> choice;
  for (const PartitionId& partition : child.root().partitions) {
    const auto view = loop_.client->shared_view();
    const std::vector<Replica>& replicas = view->Replicas(task_.service, partition);
    choice = ChooseReplica(child, partition, replicas);
    // The answer of a larger subtree does not tell how this replica did.
    if (choice && (!alone || closed())) others_.Forget(*choice);
    if (closed()) return;
    if (!choice) {
      Miss({partition}, reason);
      continue;
    }
    environment_.counters.moved_partitions->Increment();
    const Replica& replica = replicas[choice->index];
    AddToLeaf(replica.node, replica.call_endpoint, partition, &leaves);
  }
  Replace(child, leaves, alone ? choice : std::nullopt);
}

// Returns a replica that was not tried yet; after all were tried, any, after a pause if the child
// has no subtree that would have to wait.
std::optional<ReplicaChoice> AggregationChildren::ChooseReplica(
    const ChildCall& child, PartitionId partition, const std::vector<Replica>& replicas) {
  if (replicas.empty()) return std::nullopt;
  const TimePoint until = child.deadline();
  auto choice = others_.Choose(partition, replicas, OtherReplicas::Among::kUntried, until);
  if (choice || closed()) return choice;
  if (child.members().size() == 1) {
    const TimePoint next = loop_.loop->Now() + kRetryPause * static_cast<int64_t>(child.attempt());
    if (this_thread::SleepUntil(std::min(until, next)) == ParkResult::kStopping) {
      return std::nullopt;
    }
  }
  if (closed()) return std::nullopt;
  return others_.Choose(partition, replicas, OtherReplicas::Among::kAll, until);
}

void AggregationChildren::Replace(const ChildCall& child, const std::vector<TreeMember>& leaves,
                                  std::optional<ReplicaChoice> choice) {
  std::vector<TreeMember> members = WithoutRoot(child.members(), leaves);
  if (members.empty()) {
    return results_.progress().Settle(/*local=*/false, std::nullopt, {});
  }
  environment_.counters.adopted_children->Increment(child.root().child_count);
  Add({std::move(members), child.deadline()}, {child.attempt() + 1, choice});
}

void AggregationChildren::WatchUntil(TimePoint when) {
  if (watch_timer_ != 0 || closed()) return;
  watch_timer_ = loop_.loop->RunAt(when, [this] {
    watch_timer_ = 0;
    const auto self = Hold();
    GiveUpSilent();
  });
}

// True if the child is replaced should it not accept its task in time.
bool AggregationChildren::IsWatched(const ChildCall& child) const {
  return !child.settled() && !child.accepted() && child.begun() != TimePoint() && !task_.retried &&
         CanBeReplaced(child);
}

void AggregationChildren::GiveUpSilent() {
  if (closed()) return;
  const TimePoint now = loop_.loop->Now();
  TimePoint next = kNever;
  const size_t count = children_.size();  // replacements are appended during the loop
  for (size_t i = 0; i < count; ++i) {
    ChildCall& child = *children_[i];
    if (!IsWatched(child)) continue;
    const TimePoint due = child.begun() + environment_.accept_timeout;
    if (due > now) {
      next = std::min(next, due);
    } else if (environment_.give_up_budget.Take()) {
      environment_.counters.silent_children->Increment();
      child.Forget(/*tell_server=*/true);
      AskElsewhere(child,
                   Unavailable("node ", child.root().node, " did not accept its task within ",
                               ToMicros(environment_.accept_timeout) / 1000, " ms"));
    }
  }
  if (next != kNever) WatchUntil(next);
  Advance();
}

}  // namespace neptune
