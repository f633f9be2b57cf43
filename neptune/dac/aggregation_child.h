// A child of an aggregation: one subtree, whose task is sent to its first member. Internal to
// Aggregation.
//
// Source: [Chu03] 4.3. Threads: the aggregation's loop.

#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "neptune/capsule/capsule_permit.h"
#include "neptune/dac/aggregation.h"
#include "neptune/service/loop_client.h"
#include "neptune/wire/client_connection.h"

namespace neptune {

class Aggregation::Child final : public AnswerSink {
 public:
  Child(Aggregation& owner, Options::Child what, int attempt, std::optional<ReplicaChoice> choice)
      : owner_(owner),
        members(std::move(what.members)),
        deadline(what.deadline),
        attempt(attempt),
        choice_(choice) {}
  ~Child() override {
    LeaveCapsule(CapsuleOutcome::kCancelled);
    Forget(/*tell_server=*/false);
  }

  const TreeMember& root() const { return members.front(); }

  Status Send(std::shared_ptr<ClientConnection> connection) {
    const Options& options = owner_.options_;
    RequestHeader header;
    header.service = options.service;
    header.partition = root().partitions.front();
    header.method = MethodName(std::string(kAggregateMethod));
    header.service_class = options.service_class;
    header.trace = options.trace;
    header.retried = options.retried || attempt > 1;
    header.waited = options.waited;
    const Duration left = std::max(Duration(0), deadline - owner_.Now());
    header.time_left = std::chrono::microseconds(ToMicros(left));
    const auto call = connection->Call(EncodeRequestHeader(header), Payload(), this);
    if (!call.ok()) return call.status();
    call_ = *call;
    held_call_ = Holding(options.holdings, HeldKind::kCall);
    sent = true;
    connection_ = std::move(connection);
    return OkStatus();
  }

  // A subtree that replaces a lost one gets a new task, because its members' datagram described
  // another tree.
  std::string Payload() const {
    const AggregationPlan& plan = owner_.options_.plan;
    if (by_reference) return EncodeReference(plan.dissemination);
    if (attempt == 1 || plan.dissemination == 0) return EncodeTask(plan, members);
    AggregationPlan fresh = plan;
    fresh.dissemination = 0;
    return EncodeTask(fresh, members);
  }

  void OnAnswer(StatusOr<Frame> response) override {
    held_call_.Release();
    const auto connection = std::exchange(connection_, nullptr);
    const auto self = owner_.shared_from_this();
    owner_.HandleChildAnswer(*this, std::move(response), connection);
  }

  void OnAccepted() override { accepted = true; }

  NetworkOperation Operation() const {
    return {.address = root().at.address,
            .port = root().at.port,
            .service = owner_.options_.service.value(),
            .partition = root().partitions.front(),
            .node = root().node.value()};
  }

  void LeaveCapsule(CapsuleOutcome outcome) {
    if (timer != 0) owner_.loop_.loop->CancelTimer(std::exchange(timer, 0));
    visit.Leave(outcome);
    held_place_.Release();
  }
  void NotePlace() {
    if (visit.inside()) held_place_ = Holding(owner_.options_.holdings, HeldKind::kCapsulePlace);
  }

  void Forget(bool tell_server) {
    held_call_.Release();
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
  Holding held_call_;
  Holding held_place_;
  std::shared_ptr<ClientConnection> connection_;  // while the call is in flight
  uint64_t call_ = 0;

 public:
  const std::vector<TreeMember> members;
  const TimePoint deadline;
  const int attempt;
  CapsulePermit visit;
  TimerId timer = 0;  // timeout of the visit, if the capsule has one
  TimePoint begun;
  bool by_reference = false;  // the task was sent by datagram and is assumed to have arrived
  bool sent = false;
  bool accepted = false;
  bool settled = false;

 private:
  std::optional<ReplicaChoice> choice_;
};

void AppendPartitions(const std::vector<TreeMember>& members, std::vector<PartitionId>* partitions);

}  // namespace neptune
