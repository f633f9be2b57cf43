// One child of an aggregation: a subtree, whose task is sent to its first member.
//
//   Start ─► place in the dependency capsule ─► connection ─► task sent ─► accepted ─► answer
//                 │ refused, timeout                │ lost                    │ lost      │
//                 └───────────────► AggregationChildren decides ◄─────────────┴───────────┘
//
// The child holds its place in the capsule from before its task is sent until it has answered,
// although no thread waits. A settled child reports nothing more.
//
// Source: [Chu03] 4.3; [Chu05] IV.A.
// Threads: the aggregation's loop.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neptune/capsule/capsule_permit.h"
#include "neptune/dac/node_task.h"
#include "neptune/service/loop_client.h"
#include "neptune/service/node_loops.h"
#include "neptune/wire/call_channel.h"

namespace neptune {

class AggregationChildren;

class ChildCall final : public AnswerSink {
 public:
  // The number of the attempt to ask for the subtree, and the choice of the replica to conclude, if
  // the child stands for one.
  struct Attempt {
    int number = 1;
    std::optional<ReplicaChoice> choice{};
  };

  // `owner` contains this object and receives its events.
  ChildCall(AggregationChildren& owner, const NodeTask& task, NodeLoop& loop, Subtree subtree,
            Attempt attempt);
  ~ChildCall() override;

  const std::vector<TreeMember>& members() const { return subtree_.members; }
  const TreeMember& root() const { return subtree_.members.front(); }
  TimePoint deadline() const { return subtree_.deadline; }
  int attempt() const { return attempt_.number; }
  // When the connection was requested; the zero time before.
  TimePoint begun() const { return begun_; }
  bool sent() const { return sent_; }
  bool accepted() const { return accepted_; }
  bool settled() const { return settled_; }
  // The task was sent by datagram and is assumed to have arrived.
  bool by_reference() const { return by_reference_; }

  // Enters the capsule, connects, and sends the task.
  void Start(CapsuleStack& capsules);
  // Sends the task itself, because the datagram did not arrive.
  Status SendTask(std::shared_ptr<CallChannel> channel);
  void Settle() { settled_ = true; }
  // Leaves the capsule, or its queue. Idempotent.
  void LeaveCapsule(CapsuleOutcome outcome);
  // Drops the answer. `tell_server`: and cancels the work for it. Idempotent.
  void Forget(bool tell_server);
  // Reports the end of the attempt to load balancing; `answer` is null if there was none.
  // Idempotent.
  void ConcludeChoice(const ResponseHeader* answer, bool failed);

 private:
  void OnAnswer(StatusOr<CallAnswer>&& answer) override;
  void OnAccepted() override { accepted_ = true; }

  NetworkOperation Operation() const;
  void HandleTurn();
  void NotePlace();
  void LimitByCapsule();
  void Connect();
  void AwaitConnection();
  Status Send(std::shared_ptr<CallChannel> channel);
  RequestHeader Header() const;
  std::string Payload() const;

  AggregationChildren& owner_;
  const NodeTask& task_;
  NodeLoop& loop_;
  const Subtree subtree_;
  Attempt attempt_;
  CapsulePermit place_;
  TimerId place_timer_ = 0;  // timeout of the place, if the capsule has one
  Holding held_place_;
  Holding held_call_;
  std::shared_ptr<CallChannel> channel_;  // while the call is in flight
  uint64_t call_ = 0;
  TimePoint begun_;
  bool by_reference_;
  bool sent_ = false;
  bool accepted_ = false;
  bool settled_ = false;
};

}  // namespace neptune
