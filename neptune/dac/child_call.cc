#include "neptune/dac/child_call.h"

#include <algorithm>
#include <utility>

#include "neptune/dac/aggregation_children.h"

namespace neptune {

ChildCall::ChildCall(AggregationChildren& owner, const NodeTask& task, NodeLoop& loop,
                     Subtree subtree, Attempt attempt)
    : owner_(owner),
      task_(task),
      loop_(loop),
      subtree_(std::move(subtree)),
      attempt_(std::move(attempt)),
      by_reference_(task.host != nullptr && attempt_.number == 1 && task.plan.dissemination != 0) {}

ChildCall::~ChildCall() {
  LeaveCapsule(CapsuleOutcome::kCancelled);
  Forget(/*tell_server=*/false);
}

NetworkOperation ChildCall::Operation() const {
  return {.address = root().at.address,
          .port = root().at.port,
          .service = task_.service.value(),
          .partition = root().partitions.front(),
          .node = root().node.value()};
}

void ChildCall::Start(CapsuleStack& capsules) {
  const auto entered = place_.Begin(capsules, Operation(),
                                    {.deadline = deadline(), .service_class = task_.service_class},
                                    [this] { HandleTurn(); });
  if (entered && !entered->ok()) return owner_.OnRefused(*this, *entered);
  NotePlace();
  if (place_.inside() && place_.limited_by_capsule()) LimitByCapsule();
  if (entered) Connect();
}

// The child's turn in the queue of the capsule has come.
void ChildCall::HandleTurn() {
  const auto owner = owner_.Hold();
  if (owner_.closed() || settled_) return;
  NotePlace();
  Connect();
  owner_.Advance();
}

void ChildCall::NotePlace() {
  if (place_.inside()) held_place_ = Holding(task_.holdings, HeldKind::kCapsulePlace);
}

void ChildCall::LimitByCapsule() {
  place_timer_ = loop_.loop->RunAt(place_.deadline(), [this] {
    place_timer_ = 0;
    const auto owner = owner_.Hold();
    owner_.OnPlaceTimeout(*this, DeadlineExceeded("timeout of ", place_.Where()));
  });
}

void ChildCall::LeaveCapsule(CapsuleOutcome outcome) {
  if (place_timer_ != 0) loop_.loop->CancelTimer(std::exchange(place_timer_, 0));
  place_.Leave(outcome);
  held_place_.Release();
}

void ChildCall::Connect() {
  begun_ = loop_.loop->Now();
  owner_.OnBegun(*this);
  if (auto channel = loop_.client->FindChannel(root().at)) {
    const Status sent = Send(std::move(channel));
    if (!sent.ok()) owner_.OnLost(*this, sent);
    return;
  }
  AwaitConnection();
}

// The thread that waits for a connection then checks that the aggregation still exists.
void ChildCall::AwaitConnection() {
  const auto started = loop_.scheduler->Spawn(
      [to = owner_.weak(), this, &client = *loop_.client, at = root().at, until = deadline()] {
        auto channel = client.ChannelTo(at, until);
        const auto owner = to.lock();
        if (owner == nullptr || owner->closed() || settled_) return;
        if (!channel.ok() && client.FailsTooOften(at)) owner->Exclude(root().node);
        const Status sent = channel.ok() ? Send(*std::move(channel)) : channel.status();
        if (!sent.ok()) owner->OnLost(*this, sent);
        owner->Advance();
      });
  if (!started.ok()) owner_.OnLost(*this, started.status());
}

Status ChildCall::Send(std::shared_ptr<CallChannel> channel) {
  const auto call = channel->Call(Header(), Payload(), this);
  if (!call.ok()) return call.status();
  call_ = *call;
  held_call_ = Holding(task_.holdings, HeldKind::kCall);
  sent_ = true;
  channel_ = std::move(channel);
  return OkStatus();
}

Status ChildCall::SendTask(std::shared_ptr<CallChannel> channel) {
  by_reference_ = false;
  return channel->usable() ? Send(std::move(channel)) : Unavailable("the connection ended");
}

RequestHeader ChildCall::Header() const {
  RequestHeader header;
  header.service = task_.service;
  header.partition = root().partitions.front();
  header.method = MethodName(std::string(kAggregateMethod));
  header.service_class = task_.service_class;
  header.trace = task_.trace;
  header.retried = task_.retried || attempt_.number > 1;
  header.waited = task_.waited;
  const Duration left = std::max(Duration(0), deadline() - loop_.loop->Now());
  header.time_left = std::chrono::microseconds(ToMicros(left));
  return header;
}

// A subtree that replaces a lost one gets a new task, because its members' datagram described
// another tree.
std::string ChildCall::Payload() const {
  if (by_reference_) return EncodeReference(task_.plan.dissemination);
  if (attempt_.number == 1 || task_.plan.dissemination == 0) {
    return EncodeTask(task_.plan, members());
  }
  AggregationPlan fresh = task_.plan;
  fresh.dissemination = 0;
  return EncodeTask(fresh, members());
}

void ChildCall::OnAnswer(StatusOr<CallAnswer>&& answer) {
  held_call_.Release();
  const auto channel = std::exchange(channel_, nullptr);
  const auto owner = owner_.Hold();
  owner_.OnAnswer(*this, std::move(answer), channel);
}

void ChildCall::Forget(bool tell_server) {
  held_call_.Release();
  if (channel_ == nullptr) return;
  channel_->Forget(call_, tell_server);
  channel_ = nullptr;
}

void ChildCall::ConcludeChoice(const ResponseHeader* answer, bool failed) {
  if (!attempt_.choice) return;
  ReplicaChooser& chooser = loop_.client->chooser();
  if (answer != nullptr) {
    chooser.Answered(*attempt_.choice, answer->load_index, answer->run_time, answer->status);
  } else {
    chooser.Lost(*attempt_.choice, failed);
  }
  attempt_.choice.reset();
}

}  // namespace neptune
