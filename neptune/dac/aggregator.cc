#include "neptune/dac/aggregator.h"

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "neptune/balancing/load_polling.h"
#include "neptune/base/byte_order.h"
#include "neptune/base/strings.h"
#include "neptune/capsule/main_pool.h"
#include "neptune/dac/aggregation.h"
#include "neptune/dac/stage_learner.h"
#include "neptune/dac/stream_fold.h"
#include "neptune/dac/task_server.h"
#include "neptune/service/loop_client.h"
#include "neptune/service/service_host.h"

namespace neptune {
namespace {

// Weight of a new answer in the mean; half of the total weight is on the last 35 answers.
constexpr double kReduceTimeWeight = 0.02;
// A reduction on a server whose load is unknown is assumed to cost this much more (3: four times
// its cost), because concentrating reductions on few servers pays only if these are known to be
// light.
constexpr double kStaleReductionFactor = 3;
constexpr size_t kMembersPerPoll = 8;
// A call waits for the answers to its polls for this fraction of the mean cost of a local operator,
// if that is long enough for an answer to arrive.
constexpr int64_t kPollWaitPart = 12;
constexpr Duration kPollWaitMin = std::chrono::microseconds(200);
constexpr uint8_t kLoadSectionVersion = 1;

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

std::vector<PartitionId> WithoutDuplicates(std::vector<PartitionId> partitions) {
  std::sort(partitions.begin(), partitions.end());
  partitions.erase(std::unique(partitions.begin(), partitions.end()), partitions.end());
  return partitions;
}

// Number of `all` partitions that must contribute.
size_t NeededCount(const AggregationRequest& request, size_t all) {
  return static_cast<size_t>(
      std::ceil(request.aggregation_quality_min * static_cast<double>(all) - 1e-9));
}

bool IsGivenUp(const Status& reason) { return reason.code() == StatusCode::kCancelled; }

// Returns an error unless enough partitions contributed.
Status Judge(const AggregationRequest& request, const AggregationReport& report) {
  const size_t there = report.contributing_partitions.size();
  const size_t all = there + report.missing.size();
  const size_t needed = NeededCount(request, all);
  if (there >= needed) return OkStatus();
  // A cancelled partition is the least informative reason, because others caused it.
  const auto reason = std::min_element(
      report.missing.begin(), report.missing.end(),
      [](const auto& a, const auto& b) { return !IsGivenUp(a.reason) && IsGivenUp(b.reason); });
  return Unavailable(there, " of ", all, " partitions of ", request.service, " contributed, ",
                     needed, " are required; first reason: ", ToStd(reason->reason.message()));
}

// Converts processor time to time on the server with all its processors working.
ServerLoad LoadFrom(const MemberRecord& record) {
  const auto share = [&](Duration time) { return time / record.processor_count; };
  return {share(record.pending), share(record.local_cost), share(record.reduce_cost)};
}

}  // namespace

// The state of one loop.
struct Aggregator::LoopState {
  LoopState(const LoadEstimatorOptions& options, LoadGossip& gossip)
      : book(options), gossip(gossip) {}

  LoadEstimator book;
  LoadGossip& gossip;
  // The answer to a poll has the pending work, but not the costs.
  void HandlePoll(uint64_t cookie, const LoadReport& report) {
    const Polled& poll = polled[cookie % polled.size()];
    const TimePoint now = Loop::Current()->Now();
    book.OnReport(poll.node, poll.service, {report.pending, Duration(0), Duration(0)}, now,
                  LoadSource::kPoll);
    gossip.Merge({poll.node, report.pending, now});
    if (!report.heard.empty()) {
      const auto heard = DecodeGossip(report.heard, now);
      for (const GossipedLoad& load : heard.ok() ? *heard : std::vector<GossipedLoad>()) {
        gossip.Merge(load);
      }
    }
    if (poll.round->awaited > 0 && --poll.round->awaited == 0) poll.round->waiter->Wake();
  }

  // The polls of one call.
  struct PollRound {
    ThreadRef waiter;
    size_t awaited = 0;
  };
  struct Polled {
    NodeId node;
    ServiceName service;
    std::shared_ptr<PollRound> round;
  };
  std::unique_ptr<PollingAgent> polling;
  std::array<Polled, kProbeCountMax> polled;  // by cookie modulo their count
  uint64_t poll_count = 0;
  // Mean time of one reduction as measured by the servers, by service.
  std::map<ServiceName, Ewma> reduce_times;
  std::map<ServiceName, StageLearner> stages;
  // Sequence number of each node's latest announcement that the book has.
  std::unordered_map<NodeId, uint64_t> announced;
};

// The plan of one call: its servers, their loads and its tree.
struct Aggregator::Plan {
  std::vector<TreeMember> members;  // one per server
  std::vector<std::pair<size_t, ReplicaChoice>> choices;
  std::vector<MissingPartition> missing;  // partitions without a live replica
  std::vector<TreeServer> loads;          // by member
  std::vector<size_t> order;              // indices of members, parents before children
  std::vector<int> parents;               // by member
  std::vector<Duration> assigned;         // work, by member
  AggregationPlan wire;
  TreeScheme scheme = TreeScheme::kBase;
  TimePoint deadline;
  std::optional<StageLearner::Choice> stage;  // set if the call's stage length is learned
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
  auto state = std::make_unique<LoopState>(options_.loads, gossip_);
  NEPTUNE_ASSIGN_OR_RETURN(state->polling,
                           PollingAgent::Open(
                               *Loop::Current(), options_.poll_bind,
                               [state = state.get()](uint64_t cookie, const LoadReport& report) {
                                 state->HandlePoll(cookie, report);
                               },
                               &loops_.Current().network()));
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
  std::string section;
  ByteWriter out(&section);
  const auto time = [&](Duration total) {
    const int64_t micros = ToMicros(total / processor_count_);
    out.Number(static_cast<uint32_t>(std::clamp<int64_t>(micros, 0, UINT32_MAX)));
  };
  out.Number(kLoadSectionVersion);
  time(costs_.pending());
  for (const HostedService& hosted : services) {
    const CostMeter::Means means = costs_.Of(hosted.service);
    time(means.local);
    time(means.reduce);
  }
  return section;
}

namespace {

// Returns the load in a node's announcement; nullopt if it has none.
std::optional<ServerLoad> AnnouncedBy(const Announcement& announcement,
                                      const ServiceName& service) {
  const auto section = announcement.sections.find(kAggregationLoadSection);
  if (section == announcement.sections.end()) return std::nullopt;
  ByteReader in(section->second);
  if (in.Number<uint8_t>() != kLoadSectionVersion) return std::nullopt;
  const auto time = [&] { return std::chrono::microseconds(in.Number<uint32_t>()); };
  ServerLoad load;
  load.pending = time();
  for (const HostedService& hosted : announcement.services) {
    const Duration local = time();
    const Duration reduce = time();
    if (hosted.service != service) continue;
    load.local_cost = local;
    load.reduce_cost = reduce;
  }
  return in.finished() ? std::optional(load) : std::nullopt;
}

}  // namespace

StatusOr<Aggregator::Plan> Aggregator::MakePlan(LoopState& state, const ClientSession& session,
                                                const AggregationRequest& request, TimePoint now) {
  Plan plan;
  plan.scheme = request.scheme.value_or(options_.scheme(request.service));
  plan.deadline = std::min(
      request.deadline == kNever ? AddSaturated(now, session.default_timeout) : request.deadline,
      session.deadline_max());
  plan.wire = {request.local,
               request.reduce,
               request.timeouts,
               Duration(0),
               options_.stage_margin,
               /*dissemination=*/0,
               request.local_parameters.bytes(),
               request.reduce_parameters.bytes(),
               UINT16_MAX};
  Place(request, &plan);
  Poll(state, request.service, plan);
  plan.wire.missing_count_max = MissingCountMax(request, plan);
  NEPTUNE_RETURN_IF_ERROR(Form(state, request.service, &plan));
  return plan;
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
  if (request.scheme.value_or(options_.scheme(request.service)) == TreeScheme::kBase) {
    NEPTUNE_ASSIGN_OR_RETURN(reduce, client_.operators().Find(request.reduce));
  }
  LoopState& state = State();
  NEPTUNE_ASSIGN_OR_RETURN(Plan plan, MakePlan(state, session, request, begin));
  Disseminate(request, session, &plan);
  report->forming = this_thread::Now() - begin;
  const RequestHeader header =
      session.HeaderFor(request.service, request.partitions.front(), request.local);
  const Status status =
      Run(session, request, header.trace, std::move(reduce), plan, result, report);
  report->duration = this_thread::Now() - begin;
  Learn(state, request.service, plan, *report, status);
  log_.Keep(request.service, *report, status);
  CallReport call;
  if (!report->servers.empty()) call.server = report->servers.front().node;
  call.attempts = 1;
  call.queue_time = report->queue_time_max;
  call.run_time = report->run_time_max;
  call.duration = report->duration;
  client_.Conclude(header, session.trace, status, call);
  return status;
}

// Chooses a replica for each partition, and gathers the partitions of each server.
void Aggregator::Place(const AggregationRequest& request, Plan* plan) {
  LoopClient& client = *loops_.Current().client;
  std::map<NodeId, size_t> member_of_node;
  for (const PartitionId& partition : WithoutDuplicates(request.partitions)) {
    const std::shared_ptr<const YellowPageView> view = client.shared_view();
    const std::vector<Replica>& replicas = view->Replicas(request.service, partition);
    if (replicas.empty()) {
      plan->missing.push_back(
          {partition, Unavailable("no live replica of ", request.service, "/", partition)});
      continue;
    }
    const std::optional<ReplicaChoice> choice =
        client.chooser().Choose(request.service, partition, replicas, {}, plan->deadline);
    const Replica& replica = replicas[choice->index];
    const auto [found, is_new] = member_of_node.emplace(replica.node, plan->members.size());
    if (is_new) plan->members.push_back({replica.node, replica.call_endpoint, {}, 0});
    plan->members[found->second].partitions.push_back(partition);
    plan->choices.emplace_back(found->second, *choice);
  }
}

// Maximum number of the placed partitions that may be missing, after those without a live replica;
// at least 0.
uint16_t Aggregator::MissingCountMax(const AggregationRequest& request, const Plan& plan) {
  const size_t all = plan.choices.size() + plan.missing.size();
  const size_t spare = all - NeededCount(request, all);
  return static_cast<uint16_t>(spare - std::min(spare, plan.missing.size()));
}

// Reports the loads in new announcements of the members to the book.
void Aggregator::LookAtAnnouncements(LoopState& state, const ServiceName& service,
                                     const std::vector<TreeMember>& members) {
  const std::shared_ptr<const YellowPageView> view = loops_.Current().client->shared_view();
  for (const TreeMember& member : members) {
    const std::shared_ptr<const Announcement> said = view->Find(member.node);
    if (said == nullptr) continue;
    if (std::exchange(state.announced[member.node], said->sequence) == said->sequence) continue;
    const std::optional<ServerLoad> load = AnnouncedBy(*said, service);
    if (load) {
      state.book.OnReport(member.node, service, *load, this_thread::Now(),
                          LoadSource::kAnnouncement);
    }
  }
}

// Reports the node's gossip about the members to the book.
void Aggregator::ReadGossip(LoopState& state, const ServiceName& service,
                            const std::vector<TreeMember>& members) {
  for (const TreeMember& member : members) {
    const std::optional<GossipedLoad> heard = gossip_.Find(member.node);
    if (!heard) continue;
    state.book.OnReport(member.node, service, {heard->pending, Duration(0), Duration(0)},
                        heard->taken_at, LoadSource::kGossip);
  }
}

// Forms the tree and orders the members by it.
Status Aggregator::Form(LoopState& state, const ServiceName& service, Plan* plan) {
  const size_t count = plan->members.size();
  plan->order.resize(count);
  plan->parents.assign(count, -1);
  plan->loads.resize(count);
  std::iota(plan->order.begin(), plan->order.end(), size_t{0});
  if (count == 0) return OkStatus();
  LookAtAnnouncements(state, service, plan->members);
  if (options_.hears) ReadGossip(state, service, plan->members);
  RandomSource& random = loops_.Current().loop->random();
  const TimePoint now = this_thread::Now();
  // Like plan->loads, but a reduction costs more on a server whose load is stale.
  std::vector<TreeServer> cautious_loads;
  for (size_t i = 0; i < count; ++i) {
    const TreeMember& member = plan->members[i];
    const auto own = static_cast<int64_t>(member.partitions.size());
    const OperatorCosts costs = state.book.Costs(member.node, service);
    plan->loads[i] = {options_.load_oracle ? options_.load_oracle(member.node)
                                           : state.book.Estimate(member.node, service, now, random),
                      costs.local_cost * own + costs.reduce_cost * (own - 1), costs.reduce_cost};
    const double staleness =
        options_.load_oracle ? 0 : state.book.Staleness(member.node, service, now);
    cautious_loads.push_back(plan->loads[i]);
    cautious_loads.back().reduce_cost = Duration(static_cast<int64_t>(
        static_cast<double>(costs.reduce_cost.count()) * (1 + kStaleReductionFactor * staleness)));
  }
  const auto reduce_time = state.reduce_times.find(service);
  if (reduce_time != state.reduce_times.end()) {
    const double reduction = std::max(reduce_time->second.value(), 1.0);
    if (plan->wire.timeouts == TimeoutPolicy::kLearned) {
      const auto left = static_cast<double>((plan->deadline - now).count());
      plan->stage = state.stages[service].Choose(count, left / reduction, random);
    }
    const double length = plan->stage ? plan->stage->length() : kStageLengths.back();
    plan->wire.reduce_time = Duration(static_cast<int64_t>(length * reduction));
  }
  if (plan->scheme != TreeScheme::kBase) {
    NEPTUNE_ASSIGN_OR_RETURN(const ReductionTree tree,
                             FormTree(plan->scheme, cautious_loads, random));
    plan->order.clear();
    std::vector<size_t> next{tree.root()};
    while (!next.empty()) {
      const size_t member = next.back();
      next.pop_back();
      plan->order.push_back(member);
      plan->parents[member] = tree.parent(member);
      const auto children = tree.Children(member);
      plan->members[member].child_count = static_cast<uint16_t>(children.size());
      next.insert(next.end(), children.rbegin(), children.rend());
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const TreeServer& load = plan->loads[i];
    plan->assigned.push_back(load.local_cost +
                             load.reduce_cost * int64_t{plan->members[i].child_count});
    state.book.OnAssigned(plan->members[i].node, plan->assigned[i], now);
  }
  return OkStatus();
}

// Polls some of the servers for their loads. Waits for the answers for a time that is short
// compared with the call; later answers serve the next call.
void Aggregator::Poll(LoopState& state, const ServiceName& service, const Plan& plan) {
  if (options_.poll_count == 0 || options_.load_oracle || plan.members.size() < 2 ||
      plan.scheme != TreeScheme::kLoadAdaptive) {
    return;
  }
  std::vector<NodeId> nodes;
  for (const TreeMember& member : plan.members) nodes.push_back(member.node);
  const std::shared_ptr<const YellowPageView> view = loops_.Current().client->shared_view();
  const auto round = std::make_shared<LoopState::PollRound>();
  round->waiter = ThreadRef(UserThread::Current());
  const size_t count = std::max(options_.poll_count, nodes.size() / kMembersPerPoll);
  for (const size_t target : state.book.ChoosePollTargets(nodes, count, this_thread::Now(),
                                                          loops_.Current().loop->random())) {
    const std::shared_ptr<const Announcement> said = view->Find(nodes[target]);
    if (said == nullptr) continue;
    const uint64_t cookie = ++state.poll_count;
    state.polled[cookie % state.polled.size()] = {nodes[target], service, round};
    ++round->awaited;
    if (options_.hears) {
      state.polling->ProbeForGossip(said->probe_endpoint, service, cookie);
    } else {
      state.polling->Probe(said->probe_endpoint, service, cookie);
    }
  }
  const Duration wait = state.book.Costs(nodes.front(), service).local_cost / kPollWaitPart;
  if (wait < kPollWaitMin) round->awaited = 0;
  const TimePoint until = std::min(this_thread::Now() + wait, plan.deadline);
  while (round->awaited > 0 && this_thread::Park(until) == ParkResult::kWoken) {
  }
  *round = {};  // later answers wake no thread
}

// Sends the tasks by datagram; a tree that is too large for a datagram is forwarded.
void Aggregator::Disseminate(const AggregationRequest& request, const ClientSession& session,
                             Plan* plan) {
  const DisseminationMode mode = request.dissemination.value_or(options_.dissemination);
  if (mode == DisseminationMode::kForward || plan->scheme == TreeScheme::kBase ||
      plan->members.size() < 2 || options_.tell == nullptr) {
    return;
  }
  Dissemination message{request.service,
                        session.service_class,
                        plan->deadline - options_.stage_margin - this_thread::Now(),
                        {plan->wire, {}}};
  message.task.plan.dissemination = loops_.Current().loop->random().Next() | 1;
  for (const size_t member : plan->order) message.task.members.push_back(plan->members[member]);
  StatusOr<std::string> bytes = EncodeDissemination(message);
  if (!bytes.ok()) return;
  plan->wire.dissemination = message.task.plan.dissemination;
  std::vector<Endpoint> to;
  if (mode == DisseminationMode::kUnicast) {
    const std::shared_ptr<const YellowPageView> view = loops_.Current().client->shared_view();
    for (const TreeMember& member : plan->members) {
      const std::shared_ptr<const Announcement> said = view->Find(member.node);
      if (said != nullptr) to.push_back(said->probe_endpoint);
    }
  }
  options_.tell(*std::move(bytes), std::move(to));
}

std::vector<Subtree> Aggregator::ChildrenOfCaller(const Plan& plan) const {
  std::vector<Subtree> children;
  // The root is the caller's only child, so a reduction in progress at its deadline still fits.
  // If the scheme forms no tree, no server reduces.
  const bool is_staged =
      plan.scheme != TreeScheme::kBase && plan.wire.timeouts != TimeoutPolicy::kUniform;
  const Duration stage = is_staged ? plan.wire.reduce_time : Duration(0);
  const TimePoint deadline =
      std::max(plan.deadline - options_.stage_margin - stage, this_thread::Now());
  for (const size_t member : plan.order) {
    if (children.empty() || plan.scheme == TreeScheme::kBase) children.push_back({{}, deadline});
    children.back().members.push_back(plan.members[member]);
  }
  return children;
}

Status Aggregator::Run(ClientSession& session, const AggregationRequest& request,
                       const TraceContext& trace, RegisteredReduce reduce, const Plan& plan,
                       Data* result, AggregationReport* report) {
  std::optional<Aggregation::End> end;
  NodeTask options;
  options.plan = plan.wire;
  options.reduce = std::move(reduce);
  options.service = request.service;
  options.service_class = session.service_class;
  options.retried = session.origin().retried;
  options.waited = session.origin().waited;
  options.holdings = session.holdings();
  options.trace = trace;
  options.received = this_thread::Now();
  options.deadline = AddSaturated(plan.deadline, options_.answer_grace);
  options.children = ChildrenOfCaller(plan);
  const ThreadRef self(UserThread::Current());
  const auto aggregation = std::make_shared<Aggregation>(*environment_, std::move(options),
                                                         [&end, &self](Aggregation::End ended) {
                                                           end = std::move(ended);
                                                           self->Wake();
                                                         });
  const CancelAction wake_me(session.caller(), [self] { self->Wake(); });
  aggregation->Start();
  Status status;
  {
    const OutsideMainPool outside;
    while (!end && status.ok()) {
      if (session.caller() != nullptr && session.caller()->cancelled()) {
        status = Cancelled("aggregating over ", request.service, ": the caller is gone");
      } else if (this_thread::Park() == ParkResult::kStopping && !end) {
        status = Cancelled("aggregating over ", request.service, ": the node stops");
      }
    }
    if (!end) aggregation->Cancel();
  }
  Fill(plan, status, &end->answer, report);
  report->reducing = end->reducing;
  NEPTUNE_RETURN_IF_ERROR(status);
  NEPTUNE_RETURN_IF_ERROR(end->answer.reduce_error);
  NEPTUNE_RETURN_IF_ERROR(Judge(request, *report));
  *result = end->result ? *std::move(end->result) : Data();
  return OkStatus();
}

// Fills in the outcome of each partition and server. An error in `status` means that the call was
// abandoned.
void Aggregator::Fill(const Plan& plan, const Status& status, AggregationAnswer* answer,
                      AggregationReport* report) {
  report->scheme = plan.scheme;
  report->contributing_partitions = std::move(answer->contributing);
  report->ended_early = std::move(answer->ended_early);
  report->missing = plan.missing;
  std::move(answer->missing.begin(), answer->missing.end(), std::back_inserter(report->missing));
  std::vector<int> place(plan.members.size());
  for (size_t i = 0; i < plan.order.size(); ++i) {
    const size_t member = plan.order[i];
    place[member] = static_cast<int>(i);
    const int parent = plan.parents[member];
    report->servers.push_back(
        {plan.members[member].node, parent < 0 ? -1 : place[static_cast<size_t>(parent)],
         plan.members[member].partitions, plan.loads[member].load, std::nullopt});
    if (status.ok()) continue;
    for (const PartitionId& partition : plan.members[member].partitions) {
      report->missing.push_back({partition, status});
    }
  }
  std::sort(report->contributing_partitions.begin(), report->contributing_partitions.end());
  std::sort(report->missing.begin(), report->missing.end(),
            [](const auto& a, const auto& b) { return a.partition < b.partition; });
  std::map<NodeId, AggregationServer*> server_of_node;
  for (AggregationServer& server : report->servers) server_of_node[server.node] = &server;
  for (MemberRecord& record : answer->records) {
    report->queue_time_max = std::max(report->queue_time_max, record.queue_time);
    report->run_time_max = std::max(report->run_time_max, record.local_end - record.queue_time);
    const auto server = server_of_node.find(record.node);
    if (server != server_of_node.end()) server->second->record = std::move(record);
  }
}

// Reports the outcome of the call to load balancing, the load estimator and the stage learner.
void Aggregator::Learn(LoopState& state, const ServiceName& service, const Plan& plan,
                       const AggregationReport& report, const Status& status) {
  const TimePoint now = this_thread::Now();
  const bool cancelled = status.code() == StatusCode::kCancelled;
  if (plan.stage && !cancelled) {
    state.stages[service].OnEnd(*plan.stage, status.ok() ? report.quality() : 0);
  }
  Ewma& reduce_time = state.reduce_times.try_emplace(service, kReduceTimeWeight).first->second;
  std::vector<const MemberRecord*> record_of_member(plan.members.size());
  for (size_t i = 0; i < report.servers.size(); ++i) {
    if (!report.servers[i].record) continue;
    const MemberRecord& record = *report.servers[i].record;
    record_of_member[plan.order[i]] = &record;
    // The load is as of the server's answer, which may be long before that of the whole tree; the
    // delay of its task is ignored.
    const TimePoint taken_at = std::min(now, now - report.duration + record.answered);
    state.book.OnReport(record.node, service, LoadFrom(record), taken_at, LoadSource::kAnswer);
    if (record.reduction_count > 0) {
      reduce_time.Add(static_cast<double>(record.reduce_cost.count()));
    }
  }
  // A server that did not send an expected answer keeps its assigned work in the book.
  for (size_t i = 0; i < plan.members.size() && cancelled; ++i) {
    state.book.OnSettled(plan.members[i].node, plan.assigned[i], now);
  }
  ReplicaChooser& chooser = loops_.Current().client->chooser();
  for (const auto& [member, choice] : plan.choices) {
    const MemberRecord* const record = record_of_member[member];
    if (record == nullptr) {
      chooser.Lost(choice, /*failed=*/now >= plan.deadline - options_.stage_margin);
    } else {
      chooser.Answered(choice, record->load_index, record->local_end - record->queue_time,
                       OkStatus());
    }
  }
}

Status Aggregator::AggregateStream(ClientSession& session, const AggregationRequest& request,
                                   const std::function<Status(const Data& message)>& take,
                                   AggregationReport* report) {
  *report = AggregationReport();
  const TimePoint begin = this_thread::Now();
  NEPTUNE_RETURN_IF_ERROR(Check(request, begin));
  LoopState& state = State();
  NEPTUNE_ASSIGN_OR_RETURN(Plan plan, MakePlan(state, session, request, begin));
  StreamFold fold(session, request.service, plan.wire,
                  client_.operators().FindStream(request.reduce));
  for (const Subtree& child : ChildrenOfCaller(plan)) {
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
  Fill(plan, OkStatus(), &answer, report);
  report->duration = this_thread::Now() - begin;
  if (status.ok()) status = answer.reduce_error;
  if (status.ok()) status = Judge(request, *report);
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
