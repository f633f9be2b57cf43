#include "neptune/dac/task_server.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

// Time limit of a task without a deadline.
constexpr Duration kTaskTimeMax = std::chrono::seconds(60);
// A task that is answered within this time is not accepted separately.
constexpr Duration kAcceptDelay = std::chrono::milliseconds(5);
// Time after its deadline for which an answer that was not requested is kept.
constexpr Duration kUnaskedMax = std::chrono::milliseconds(100);

// Returns the subtrees below the first member, each with the deadline of its stage.
std::vector<Subtree> ChildrenOf(const AggregationPlan& plan, std::span<const TreeMember> members,
                                TimePoint deadline, TimePoint now) {
  std::vector<Subtree> children;
  std::vector<uint32_t> sizes;
  for (size_t begin = 1; begin < members.size(); begin += sizes.back()) {
    sizes.push_back(static_cast<uint32_t>(SubtreeLength(members.subspan(begin))));
    const auto subtree = members.subspan(begin, sizes.back());
    children.push_back({{subtree.begin(), subtree.end()}, kNever});
  }
  const std::vector<TimePoint> deadlines =
      ChildDeadlines(plan.timeouts, deadline, sizes, {plan.reduce_time, plan.stage_margin}, now);
  for (size_t i = 0; i < children.size(); ++i) children[i].deadline = deadlines[i];
  return children;
}

// The subtree of `node` with the deadline that forwarding would have given it.
struct OwnPart {
  std::vector<TreeMember> members;
  TimePoint deadline;
};
std::optional<OwnPart> PartOf(const NodeId& node, const AggregationTask& task, TimePoint deadline,
                              TimePoint now) {
  OwnPart part{task.members, deadline};
  while (part.members.front().node != node) {
    auto children = ChildrenOf(task.plan, part.members, part.deadline, now);
    const auto below = std::find_if(children.begin(), children.end(), [&](const auto& child) {
      return std::any_of(child.members.begin(), child.members.end(),
                         [&](const TreeMember& member) { return member.node == node; });
    });
    if (below == children.end()) return std::nullopt;
    part = {std::move(below->members), below->deadline};
  }
  return part;
}

}  // namespace

struct TaskServer::Served {
  std::shared_ptr<Aggregation> aggregation;
  TimePoint received;
  uint64_t dissemination = 0;
  // The reply to the parent's request; empty until it arrives.
  bool is_asked = false;
  Reply reply;
  std::optional<Aggregation::End> end;  // set if the answer was ready before it was requested
};

struct TaskServer::LoopState {
  std::map<uint64_t, Served> serving;  // by number, i.e. in order of arrival
  uint64_t served_count = 0;
  uint64_t accepted_count = 0;  // tasks up to this number were accepted
  TimerId accept_timer = 0;
};

TaskServer::TaskServer(AggregationEnvironment& environment, size_t serving_count_max,
                       FindHost find_host)
    : environment_(environment),
      serving_count_max_(serving_count_max),
      find_host_(std::move(find_host)) {}

TaskServer::~TaskServer() = default;

void TaskServer::AddLoop() {
  LeafLock lock(&states_mutex_);
  states_[Loop::Current()] = std::make_unique<LoopState>();
}

TaskServer::LoopState& TaskServer::State() {
  LeafLock lock(&states_mutex_);
  const auto found = states_.find(Loop::Current());
  CHECK(found != states_.end()) << "a task on a loop that was not added";
  return *found->second;
}

void TaskServer::Refuse(Reply& reply, const Status& status) {
  reply.Send({.status = status, .load_index = environment_.loops.load_index()}, "");
}

void TaskServer::Take(IncomingRequest&& request, ServiceHost& host) {
  if (const auto dissemination = DecodeReference(request.payload)) {
    return Refer(std::move(request), *dissemination);
  }
  StatusOr<AggregationTask> task = DecodeTask(request.payload);
  Status status = task.status();
  if (status.ok() && request.deadline <= request.received) {
    status = DeadlineExceeded("the task arrived after its deadline");
  }
  if (status.ok()) status = Serve(request, host, *std::move(task));
  if (!status.ok()) Refuse(request.reply, status);
}

// Moves from `request` on success only.
Status TaskServer::Serve(IncomingRequest& request, ServiceHost& host, AggregationTask task) {
  const uint64_t dissemination = task.plan.dissemination;
  if (dissemination != 0 && Find(dissemination)) {  // the datagram arrived first
    Refer(std::move(request), dissemination);
    return OkStatus();
  }
  LoopState& state = State();
  const RequestHeader& header = request.header;
  NodeTask own;
  own.service = header.service;
  own.service_class = header.service_class;
  own.trace = header.trace;
  own.retried = header.retried;
  own.waited = header.waited;
  own.received = request.received;
  own.deadline = std::min(request.deadline, AddSaturated(request.received, kTaskTimeMax));
  own.host = &host;
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t number, Begin(state, std::move(own), std::move(task)));
  const std::shared_ptr<Aggregation> aggregation = state.serving.at(number).aggregation;
  Attach(state, number, std::move(request));
  aggregation->Start();
  return OkStatus();
}

void TaskServer::Prepare(std::string_view bytes) {
  StatusOr<Dissemination> message = DecodeDissemination(bytes);
  if (!message.ok() || Find(message->task.plan.dissemination)) return;
  ServiceHost* const host = find_host_(message->service);
  if (host == nullptr) return;
  const TimePoint now = Loop::Current()->Now();
  const TimePoint root_deadline = AddSaturated(now, std::min(message->time_left, kTaskTimeMax));
  std::optional<OwnPart> part = PartOf(environment_.node, message->task, root_deadline, now);
  if (!part || part->deadline <= now) return;
  message->task.members = std::move(part->members);
  NodeTask own;
  own.service = std::move(message->service);
  own.service_class = std::move(message->service_class);
  own.received = now;
  own.deadline = part->deadline;
  own.host = host;
  LoopState& state = State();
  const StatusOr<uint64_t> number = Begin(state, std::move(own), std::move(message->task));
  if (!number.ok()) return;  // a later reference is answered with an error
  Loop::Current()->RunAt(part->deadline + kUnaskedMax, [this, &state, number = *number] {
    const auto served = state.serving.find(number);
    if (served != state.serving.end() && served->second.end) Forget(state, number);
  });
  const std::shared_ptr<Aggregation> aggregation = state.serving.at(*number).aggregation;
  aggregation->Start();
}

StatusOr<uint64_t> TaskServer::Begin(LoopState& state, NodeTask own, AggregationTask task) {
  if (serving_count() >= serving_count_max_) {
    return ResourceExhausted("node ", environment_.node, " serves ", serving_count(),
                             " aggregations");
  }
  NEPTUNE_ASSIGN_OR_RETURN(own.reduce, environment_.client.operators().Find(task.plan.reduce));
  own.own = task.members.front().partitions;
  own.children = ChildrenOf(task.plan, task.members, own.deadline, own.received);
  own.plan = std::move(task.plan);
  const uint64_t dissemination = own.plan.dissemination;
  const uint64_t number = ++state.served_count;
  Served served;
  served.received = own.received;
  served.dissemination = dissemination;
  served.aggregation = std::make_shared<Aggregation>(
      environment_, std::move(own), [this, &state, number](Aggregation::End end) {
        TaskServer::End(state, number, std::move(end));
      });
  state.serving.emplace(number, std::move(served));
  ++serving_count_;
  if (dissemination != 0) {
    LeafLock lock(&disseminated_mutex_);
    disseminated_[dissemination] = {Loop::Current(), number};
  }
  return number;
}

void TaskServer::End(LoopState& state, uint64_t number, Aggregation::End end) {
  Served& served = state.serving.at(number);
  if (!served.is_asked) {
    served.end = std::move(end);
    served.aggregation.reset();
    return;
  }
  Reply reply = std::move(served.reply);
  Forget(state, number);
  Answer(std::move(reply), std::move(end));
}

void TaskServer::Forget(LoopState& state, uint64_t number) {
  const auto node = state.serving.extract(number);
  --serving_count_;
  const uint64_t dissemination = node.mapped().dissemination;
  if (dissemination == 0) return;
  LeafLock lock(&disseminated_mutex_);
  disseminated_.erase(dissemination);
}

std::optional<TaskServer::Place> TaskServer::Find(uint64_t dissemination) {
  LeafLock lock(&disseminated_mutex_);
  const auto found = disseminated_.find(dissemination);
  return found == disseminated_.end() ? std::nullopt : std::optional(found->second);
}

void TaskServer::Refer(IncomingRequest&& request, uint64_t dissemination) {
  const std::optional<Place> place = Find(dissemination);
  if (!place) return Refuse(request.reply, FailedPrecondition("unknown task"));
  if (place->home == Loop::Current()) return Attach(State(), place->number, std::move(request));
  place->home->Post([this, number = place->number, request = std::move(request)]() mutable {
    Attach(State(), number, std::move(request));
  });
}

// The request is answered when the task ends.
void TaskServer::Attach(LoopState& state, uint64_t number, IncomingRequest request) {
  const auto found = state.serving.find(number);
  if (found == state.serving.end() || found->second.is_asked) {
    return Refuse(request.reply, FailedPrecondition("the task has ended or was already requested"));
  }
  Served& served = found->second;
  if (served.end) {
    Aggregation::End end = *std::move(served.end);
    Forget(state, number);
    return Answer(std::move(request.reply), std::move(end));
  }
  served.is_asked = true;
  served.reply = std::move(request.reply);
  if (number <= state.accepted_count) served.reply.Accept();
  if (state.accept_timer == 0) ScheduleAccepting(state, served.received + kAcceptDelay);
  request.call->OnCancel(
      [weak = std::weak_ptr<Aggregation>(served.aggregation), home = Loop::Current()] {
        home->Post([weak] {
          if (const auto cancelled = weak.lock()) cancelled->Cancel();
        });
      });
}

// Accepts tasks that have no answer after kAcceptDelay, which a hung node does not do.
void TaskServer::ScheduleAccepting(LoopState& state, TimePoint when) {
  Loop& loop = *Loop::Current();
  state.accept_timer = loop.RunAt(when, [this, &state, &loop] {
    state.accept_timer = 0;
    const TimePoint now = loop.Now();
    for (auto it = state.serving.upper_bound(state.accepted_count); it != state.serving.end();
         ++it) {
      const Served& served = it->second;
      if (served.received + kAcceptDelay > now) {
        return ScheduleAccepting(state, served.received + kAcceptDelay);
      }
      state.accepted_count = it->first;
      served.reply.Accept();
    }
  });
}

void TaskServer::Answer(Reply reply, Aggregation::End end) {
  if (!end.status.ok()) return Refuse(reply, end.status);
  const MemberRecord& own = end.answer.records.front();
  const ResponseHeader header{.queue_time = std::chrono::microseconds(ToMicros(own.queue_time)),
                              .run_time = std::chrono::microseconds(ToMicros(own.local_end)),
                              .load_index = own.load_index};
  if (end.result) end.answer.result = (*std::move(end.result)).ReleaseBytes();
  reply.Send(header, EncodeAnswer(end.answer));
}

void TaskServer::StopLoop() {
  std::vector<std::shared_ptr<Aggregation>>
      serving;  // a copy, because a task that ends is removed from the map
  for (const auto& [number, served] : State().serving) {
    if (served.aggregation != nullptr) serving.push_back(served.aggregation);
  }
  for (const auto& aggregation : serving) aggregation->Cancel();
}

}  // namespace neptune
