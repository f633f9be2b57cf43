// The children of an aggregation: sending their tasks, handling their answers, replacing lost
// children.

#include <algorithm>
#include <iterator>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/dac/aggregation_child.h"
#include "neptune/service/call_path.h"

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

}  // namespace

void AppendPartitions(const std::vector<TreeMember>& members,
                      std::vector<PartitionId>* partitions) {
  for (const TreeMember& member : members) {
    partitions->insert(partitions->end(), member.partitions.begin(), member.partitions.end());
  }
}

// REQUIRES: progress_ expects it.
void Aggregation::AddChild(Options::Child what, int attempt, std::optional<ReplicaChoice> choice) {
  children_.push_back(std::make_unique<Child>(*this, std::move(what), attempt, choice));
  Child& child = *children_.back();
  child.by_reference = options_.host != nullptr && attempt == 1 && options_.plan.dissemination != 0;
  AdmitChild(child);
}

void Aggregation::AdmitChild(Child& child) {
  const auto entered = child.visit.Begin(
      environment_.client.capsules(), child.Operation(),
      {.deadline = child.deadline, .service_class = options_.service_class}, [this, &child] {
        const auto self = shared_from_this();
        if (ended_ || child.settled) return;
        child.NotePlace();
        ConnectChild(child);
        Advance();
      });
  if (entered && !entered->ok()) return TurnAwayChild(child, *entered);
  child.NotePlace();
  if (child.visit.inside() && child.visit.limited_by_capsule()) {
    child.timer = loop_.loop->RunAt(child.visit.deadline(), [this, &child] {
      child.timer = 0;
      const auto self = shared_from_this();
      EndVisit(child);
      Advance();
    });
  }
  if (entered) ConnectChild(child);
}

// Called when the capsule's timeout expires before the child's own deadline.
void Aggregation::EndVisit(Child& child) {
  if (ended_ || child.settled) return;
  const Status reason = DeadlineExceeded("timeout of ", child.visit.Where());
  child.LeaveCapsule(CapsuleOutcome::kTimedOut);
  child.Forget(/*tell_server=*/!options_.plan.uncancelled);
  if (!options_.retried && CanBeReplaced(child) && environment_.give_up_budget.Take()) {
    return AskElsewhere(child, reason);
  }
  child.ConcludeChoice(nullptr, /*failed=*/true);
  MissChild(child, reason);
}

void Aggregation::TurnAwayChild(Child& child, const Status& reason) {
  child.ConcludeChoice(nullptr, /*failed=*/false);
  if (CanBeReplaced(child)) return LoseChild(child, reason);
  MissChild(child, reason);
}

void Aggregation::MissChild(Child& child, const Status& reason) {
  child.settled = true;
  MissSubtree(child, reason);
  progress_.Settle(/*local=*/false, std::nullopt, {});
}

void Aggregation::ConnectChild(Child& child) {
  child.begun = Now();
  WatchChildren(child.begun + environment_.accept_timeout);
  ConnectionCache& connections = loop_.client->connections();
  if (auto connection = connections.Find(child.root().at)) {
    const Status sent = child.Send(std::move(connection));
    if (!sent.ok()) LoseChild(child, sent);
    return;
  }
  // The thread that waits for a connection then checks that the aggregation still exists.
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

void Aggregation::HandleChildAnswer(Child& child, StatusOr<Frame> frame,
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
    // The datagram was lost or is late; send the task itself.
    environment_.counters.lost_datagrams->Increment();
    child.by_reference = false;
    status = connection->usable() ? child.Send(connection) : Unavailable("the connection ended");
    if (status.ok()) return;
  }
  child.LeaveCapsule(OutcomeOf(status));
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
  ended_early_.insert(ended_early_.end(), answer.ended_early.begin(), answer.ended_early.end());
  for (const MemberRecord& record : answer.records) {
    // The load is as of that server's answer; network delays are ignored.
    environment_.gossip.Merge({record.node, record.pending / record.processor_count,
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

// Handles the loss of a child's server. Replacing a child whose task was sent repeats work, and is
// charged to the budget.
void Aggregation::LoseChild(Child& child, const Status& reason) {
  if (!child.sent || (!options_.retried && environment_.loss_budget.Take())) {
    return AskElsewhere(child, reason);
  }
  child.LeaveCapsule(CapsuleOutcome::kFailed);
  child.ConcludeChoice(nullptr, /*failed=*/true);
  MissChild(child, reason);
}

// Settles the child and replaces it by one subtree, so that a caller without the operator has
// nothing to reduce. Its root is the lost child's first child, which had the largest subtree; below
// it are its siblings, and leaves for the lost child's own partitions on other replicas.
void Aggregation::AskElsewhere(Child& child, const Status& reason) {
  child.settled = true;
  child.LeaveCapsule(CapsuleOutcome::kFailed);
  child.ConcludeChoice(nullptr, /*failed=*/true);
  lost_.insert(child.root().node);
  progress_.Expect(/*local=*/false);  // the replacement
  progress_.Settle(/*local=*/false, std::nullopt, {});
  if (child.attempt >= kAttemptsMax || child.deadline <= Now()) {
    Miss(child.root().partitions, reason);
    return Replace(child, {}, std::nullopt);
  }
  // On a separate thread, because choosing a replica may wait.
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

// Chooses replicas for the lost child's own partitions; partitions without one are missing.
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

// Returns a replica that was not tried yet; after all were tried, any, after a pause if the child
// has no subtree that would have to wait.
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
  const size_t count = children_.size();  // replacements are appended during the loop
  for (size_t i = 0; i < count; ++i) {
    Child& child = *children_[i];
    if (child.settled || child.accepted || child.begun == TimePoint() || options_.retried ||
        !CanBeReplaced(child)) {
      continue;
    }
    const TimePoint due = child.begun + environment_.accept_timeout;
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

// True if replacing the child helps: it has a subtree, or one of its partitions has another
// replica.
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

}  // namespace neptune
