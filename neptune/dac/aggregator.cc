#include "neptune/dac/aggregator.h"

#include <glog/logging.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "neptune/capsule/main_pool.h"
#include "neptune/dac/aggregation.h"
#include "neptune/dac/aggregation_report.h"
#include "neptune/dac/announced_load.h"
#include "neptune/dac/call_plan.h"
#include "neptune/dac/known_loads.h"
#include "neptune/dac/stream_fold.h"
#include "neptune/dac/task_server.h"
#include "neptune/service/loop_client.h"
#include "neptune/service/service_host.h"

namespace neptune {
namespace {

Status Check(const AggregationRequest& request, TimePoint now) {
  if (!(request.aggregation_quality_min > 0 && request.aggregation_quality_min <= 1)) {
    return InvalidArgument("aggregation quality ", request.aggregation_quality_min,
                           " is outside (0, 1]");
  }
  if (request.deadline <= now) {
    return InvalidArgument("the deadline of the aggregation has passed");
  }
  if (request.partitions.size() > kAggregationPartitionsMax) {
    return InvalidArgument(request.partitions.size(), " partitions are over ",
                           kAggregationPartitionsMax);
  }
  return OkStatus();
}

// Work that the tree assigns to each server.
std::vector<Duration> WorkOf(const std::vector<TreeServer>& loads, const CallTree& tree) {
  std::vector<Duration> work;
  work.reserve(loads.size());
  for (size_t i = 0; i < loads.size(); ++i) {
    work.push_back(loads[i].local_cost +
                   loads[i].reduce_cost * int64_t{tree.servers[i].child_count});
  }
  return work;
}

CallReport CallReportOf(const AggregationReport& report) {
  CallReport call;
  if (!report.servers.empty()) call.server = report.servers.front().node;
  call.attempts = 1;
  call.queue_time = report.queue_time_max;
  call.run_time = report.run_time_max;
  call.duration = report.duration;
  return call;
}

}  // namespace

// The knowledge of one loop.
struct Aggregator::LoopState {
  std::unique_ptr<KnownLoads> loads;
  CallStages stages;
  // The latest call that belongs to a trace, and its servers. A request that makes another call
  // asks the same ones if it can.
  TraceContext latest_trace;
  std::vector<NodeId> latest_servers;

  std::vector<NodeId> ServersOf(const TraceContext& trace) const {
    const bool is_same = trace.present() && trace.trace_high == latest_trace.trace_high &&
                         trace.trace_low == latest_trace.trace_low;
    return is_same ? latest_servers : std::vector<NodeId>();
  }
  void NoteServers(const TraceContext& trace, const std::vector<TreeMember>& members) {
    if (!trace.present()) return;
    latest_trace = trace;
    latest_servers.clear();
    for (const TreeMember& member : members) latest_servers.push_back(member.node);
  }
};

// One call with its plan.
struct Aggregator::PlannedCall {
  ClientSession& session;
  const AggregationRequest& request;
  TraceContext trace;
  RegisteredReduce reduce;  // in the scheme `base` only
  CallPlan plan;
};

struct Aggregator::CallEnd {
  Status status;
  Data result;  // on success
  AggregationReport report;
};

StatusOr<std::unique_ptr<Aggregator>> Aggregator::Make(const NodeId& node, NodeLoops& loops,
                                                       Client& client, MetricsRegistry& metrics,
                                                       AggregatorOptions options) {
  NEPTUNE_ASSIGN_OR_RETURN(const AggregationCounters counters, AggregationCounters::Make(metrics));
  return std::unique_ptr<Aggregator>(
      new Aggregator(node, loops, client, std::move(options), counters));
}

Aggregator::Aggregator(const NodeId& node, NodeLoops& loops, Client& client,
                       AggregatorOptions options, const AggregationCounters& counters)
    : node_(node),
      loops_(loops),
      client_(client),
      options_(std::move(options)),
      processor_count_(loops.world().processors().count()),
      environment_(new AggregationEnvironment{node,
                                              processor_count_,
                                              loops,
                                              client,
                                              costs_,
                                              gossip_,
                                              counters,
                                              {options_.recheck_one_in, counters.order_errors},
                                              options_.reduction_place}),
      tasks_(std::make_unique<TaskServer>(*environment_, options_.serving_count_max,
                                          options_.find_host)) {}

Aggregator::~Aggregator() = default;

Status Aggregator::AddLoop() {
  tasks_->AddLoop();
  auto state = std::make_unique<LoopState>();
  NEPTUNE_ASSIGN_OR_RETURN(state->loads, KnownLoads::Open(loops_.Current(), gossip_, options_));
  LeafLock lock(&states_mutex_);
  states_[Loop::Current()] = std::move(state);
  return OkStatus();
}

Aggregator::LoopState& Aggregator::State() {
  LeafLock lock(&states_mutex_);
  const auto found = states_.find(Loop::Current());
  CHECK(found != states_.end()) << "aggregation on a loop that was not added";
  return *found->second;
}

std::string Aggregator::AnnouncedLoad(const std::vector<HostedService>& services) const {
  return EncodeAnnouncedLoad(costs_, processor_count_, services);
}

TreeScheme Aggregator::SchemeOf(const AggregationRequest& request) const {
  return request.scheme.value_or(options_.scheme(request.service));
}

StatusOr<CallPlan> Aggregator::MakePlan(LoopState& state, const ClientSession& session,
                                        const AggregationRequest& request, TimePoint now) {
  CallPlan plan;
  plan.scheme = SchemeOf(request);
  plan.deadline = std::min(
      request.deadline == kNever ? AddSaturated(now, session.default_timeout) : request.deadline,
      session.deadline_max());
  plan.placement = PlacePartitions(*loops_.Current().client, request.service, request.partitions,
                                   plan.deadline, state.ServersOf(session.trace));
  const std::vector<TreeMember>& members = plan.placement.members;
  state.NoteServers(session.trace, members);
  if (plan.scheme == TreeScheme::kLoadAdaptive) {
    state.loads->Poll(request.service, members, plan.deadline);
  }
  CallLoads loads = state.loads->Estimate(request.service, members);
  RandomSource& random = loops_.Current().loop->random();
  plan.stage = state.stages.Choose(request.service, request.timeouts, members.size(),
                                   plan.deadline - this_thread::Now(), random);
  NEPTUNE_ASSIGN_OR_RETURN(plan.tree, FormCallTree(plan.scheme, loads.cautious, random));
  plan.loads = std::move(loads.servers);
  plan.work = WorkOf(plan.loads, plan.tree);
  state.loads->OnAssigned(members, plan.work);
  plan.wire = WireOf(request, plan);
  return plan;
}

AggregationPlan Aggregator::WireOf(const AggregationRequest& request, const CallPlan& plan) const {
  return {.local = request.local,
          .reduce = request.reduce,
          .timeouts = request.timeouts,
          .reduce_time = plan.stage.length,
          .stage_margin = options_.stage_margin,
          .local_parameters = request.local_parameters.bytes(),
          .reduce_parameters = request.reduce_parameters.bytes(),
          .missing_count_max = MissingCountMax(request.aggregation_quality_min, plan.placement)};
}

Status Aggregator::Aggregate(ClientSession& session, const AggregationRequest& request,
                             Data* result, AggregationReport* report) {
  *report = AggregationReport();
  const TimePoint begin = this_thread::Now();
  NEPTUNE_RETURN_IF_ERROR(Check(request, begin));
  if (request.partitions.empty()) {
    *result = Data();
    return OkStatus();
  }
  RegisteredReduce reduce;
  if (SchemeOf(request) == TreeScheme::kBase) {
    NEPTUNE_ASSIGN_OR_RETURN(reduce, client_.operators().Find(request.reduce));
  }
  LoopState& state = State();
  NEPTUNE_ASSIGN_OR_RETURN(CallPlan plan, MakePlan(state, session, request, begin));
  plan.wire.dissemination = Disseminate(request, session, plan);
  const RequestHeader header =
      session.HeaderFor(request.service, request.partitions.front(), request.local);
  PlannedCall call{session, request, header.trace, std::move(reduce), std::move(plan)};
  const Duration forming = this_thread::Now() - begin;
  CallEnd end = Run(call);
  end.report.forming = forming;
  end.report.duration = this_thread::Now() - begin;
  Learn(state, call, end);
  log_.Keep(request.service, end.report, end.status);
  client_.Conclude(header, session.trace, end.status, CallReportOf(end.report));
  *report = std::move(end.report);
  if (end.status.ok()) *result = std::move(end.result);
  return end.status;
}

// Sends the tasks by datagram and returns its number; 0: they are forwarded, as is a tree that is
// too large for a datagram.
uint64_t Aggregator::Disseminate(const AggregationRequest& request, const ClientSession& session,
                                 const CallPlan& plan) {
  if (request.dissemination == DisseminationMode::kForward || plan.scheme == TreeScheme::kBase ||
      plan.placement.members.size() < 2 || options_.send == nullptr) {
    return 0;
  }
  Dissemination message{request.service,
                        session.service_class,
                        plan.deadline - options_.stage_margin - this_thread::Now(),
                        {plan.wire, plan.Members()}};
  message.task.plan.dissemination = loops_.Current().loop->random().Next() | 1;
  StatusOr<std::string> bytes = EncodeDissemination(message);
  if (!bytes.ok()) return 0;
  std::vector<Endpoint> to;
  if (request.dissemination == DisseminationMode::kUnicast) {
    const std::shared_ptr<const YellowPageView> view = loops_.Current().client->shared_view();
    for (const TreeMember& member : plan.placement.members) {
      const std::shared_ptr<const Announcement> said = view->Find(member.node);
      if (said != nullptr) to.push_back(said->probe_endpoint);
    }
  }
  options_.send(*std::move(bytes), std::move(to));
  return message.task.plan.dissemination;
}

NodeTask Aggregator::CallersTask(PlannedCall& call) const {
  NodeTask task;
  task.plan = call.plan.wire;
  task.reduce = std::move(call.reduce);
  task.service = call.request.service;
  task.service_class = call.session.service_class;
  task.retried = call.session.origin().retried;
  task.waited = call.session.origin().waited;
  task.holdings = call.session.holdings();
  task.trace = call.trace;
  task.received = this_thread::Now();
  task.deadline = AddSaturated(call.plan.deadline, options_.answer_grace);
  task.children = call.plan.CallersChildren(task.received);
  return task;
}

Aggregator::CallEnd Aggregator::Run(PlannedCall& call) {
  const IncomingCall* const caller = call.session.caller();
  std::optional<Aggregation::End> end;
  const ThreadRef self(UserThread::Current());
  const auto aggregation = std::make_shared<Aggregation>(*environment_, CallersTask(call),
                                                         [&end, &self](Aggregation::End ended) {
                                                           end = std::move(ended);
                                                           self->Wake();
                                                         });
  const CancelAction wake_me(call.session.caller(), [self] { self->Wake(); });
  aggregation->Start();
  Status abandoned;
  {
    const OutsideMainPool outside;
    while (!end && abandoned.ok()) {
      if (caller != nullptr && caller->cancelled()) {
        abandoned = Cancelled("aggregating over ", call.request.service, ": the caller is gone");
      } else if (this_thread::Park() == ParkResult::kStopping && !end) {
        abandoned = Cancelled("aggregating over ", call.request.service, ": the node stops");
      }
    }
    if (!end) aggregation->Cancel();
  }
  CallEnd outcome;
  outcome.status = abandoned.ok() ? end->answer.reduce_error : abandoned;
  outcome.report = ReportOf(call.plan, abandoned, std::move(end->answer));
  outcome.report.reducing = end->reducing;
  if (outcome.status.ok()) outcome.status = JudgeQuality(call.request, outcome.report);
  if (end->result) outcome.result = *std::move(end->result);
  return outcome;
}

// Reports the outcome of the call to load balancing, and to the loop's knowledge of loads and
// stages.
void Aggregator::Learn(LoopState& state, const PlannedCall& call, const CallEnd& end) {
  const CallPlan& plan = call.plan;
  const AggregationReport& report = end.report;
  const ServiceName& service = call.request.service;
  const TimePoint now = this_thread::Now();
  const bool cancelled = end.status.code() == StatusCode::kCancelled;
  const double quality = end.status.ok() ? report.quality() : 0;
  state.stages.OnEnd(service, plan.stage, cancelled ? std::nullopt : std::optional(quality));
  // A load is as of its server's answer, which may be long before that of the whole tree; the delay
  // of its task is ignored.
  for (const AggregationServer& server : report.servers) {
    if (!server.record) continue;
    const MemberRecord& record = *server.record;
    state.loads->OnRecord(service, record, std::min(now, now - report.duration + record.answered));
    if (record.reduction_count > 0) state.stages.OnReduceCost(service, record.reduce_cost);
  }
  // A server that did not send an expected answer keeps its assigned work.
  if (cancelled) state.loads->OnCancelled(plan.placement.members, plan.work);
  ConcludeChoices(plan, report, /*failed=*/now >= plan.deadline - options_.stage_margin);
}

// `failed`: the servers without a record have failed.
void Aggregator::ConcludeChoices(const CallPlan& plan, const AggregationReport& report,
                                 bool failed) {
  std::vector<const AggregationServer*> server_of_member(plan.placement.members.size());
  for (size_t i = 0; i < report.servers.size(); ++i) {
    server_of_member[plan.tree.order[i]] = &report.servers[i];
  }
  ReplicaChooser& chooser = loops_.Current().client->chooser();
  for (const auto& [member, choice] : plan.placement.choices) {
    const std::optional<MemberRecord>& record = server_of_member[member]->record;
    if (record) {
      chooser.Answered(choice, record->load_index, record->local_end - record->queue_time,
                       OkStatus());
    } else {
      chooser.Lost(choice, failed);
    }
  }
}

Status Aggregator::AggregateStream(ClientSession& session, const AggregationRequest& request,
                                   const std::function<Status(const Data& message)>& take,
                                   AggregationReport* report) {
  *report = AggregationReport();
  const TimePoint begin = this_thread::Now();
  NEPTUNE_RETURN_IF_ERROR(Check(request, begin));
  NEPTUNE_ASSIGN_OR_RETURN(const CallPlan plan, MakePlan(State(), session, request, begin));
  StreamFold fold(session, request.service, plan.wire,
                  client_.operators().FindStream(request.reduce));
  for (const Subtree& child : plan.CallersChildren(this_thread::Now())) {
    fold.AddSubtree(child.members, child.deadline);
  }
  class Taker final : public MessageSink {
   public:
    explicit Taker(const std::function<Status(const Data&)>& take) : take_(take) {}
    Status Write(const Data& message) override { return take_(message); }

   private:
    const std::function<Status(const Data&)>& take_;
  } taker(take);
  Status status = fold.Run(taker, AddSaturated(plan.deadline, options_.answer_grace));
  AggregationAnswer answer = fold.ReleaseReport();
  if (status.ok()) status = answer.reduce_error;
  *report = ReportOf(plan, OkStatus(), std::move(answer));
  report->duration = this_thread::Now() - begin;
  if (status.ok()) status = JudgeQuality(request, *report);
  // The servers of a stream send no records, so it is not known whether they have failed.
  ConcludeChoices(plan, *report, /*failed=*/false);
  log_.Keep(request.service, *report, status);
  return status;
}

void Aggregator::ServeStreams(ServiceHost& host) {
  if (!host.reduces_streams()) return;
  host.Stream(MethodName(std::string(kAggregateStreamMethod)), {},
              [this, service = host.service()](RequestContext& context, const Data& request,
                                               ServerStream& stream) {
                return ServeStreamTask(client_, node_, service, context, request, stream);
              });
}

}  // namespace neptune
