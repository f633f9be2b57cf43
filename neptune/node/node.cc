#include "neptune/node/node.h"

#include <glog/logging.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "neptune/balancing/replica_policy.h"
#include "neptune/base/strings.h"
#include "neptune/dac/aggregator.h"
#include "neptune/dac/aggregator_options.h"
#include "neptune/dac/announced_load.h"
#include "neptune/dac/task_server.h"
#include "neptune/node/caller_policy.h"
#include "neptune/node/disk_watch.h"
#include "neptune/node/hosted_services.h"
#include "neptune/node/loop_watch.h"
#include "neptune/node/node_admin.h"
#include "neptune/node/node_budgets.h"
#include "neptune/node/node_capsules.h"
#include "neptune/node/node_membership.h"
#include "neptune/node/node_metrics.h"
#include "neptune/node/node_runtime.h"
#include "neptune/node/node_security.h"
#include "neptune/node/node_servers.h"
#include "neptune/node/node_status.h"
#include "neptune/node/replication_spec.h"
#include "neptune/node/stall_watch.h"
#include "neptune/replication/agent/replication.h"
#include "neptune/replication/client/version_section.h"
#include "neptune/service/client.h"
#include "neptune/service/line_log.h"
#include "neptune/service/loop_client.h"
#include "neptune/service/operator_registry.h"
#include "neptune/service/service_host.h"
#include "neptune/service/span_log.h"
#include "neptune/service/span_text.h"
#include "neptune/wire/incoming_call.h"

namespace neptune {
namespace {

// Time for callers to receive the departure announcement before connections are drained.
constexpr Duration kGoodbyePause = std::chrono::milliseconds(50);
constexpr Duration kBootPoll = std::chrono::milliseconds(5);
// Time for callers to close their connections; bounded because a hung caller must not delay the
// stop.
constexpr Duration kHangUpMax = std::chrono::milliseconds(300);
// Time for threads to end after their waits were ended.
constexpr Duration kThreadsEndMax = std::chrono::seconds(1);

uint32_t AddressOf(const NodeOptions& options) {
  if (options.address) return *options.address;
  const StatusOr<Endpoint> endpoint = Endpoint::Parse(options.spec.interface_address() + ":0");
  CHECK(endpoint.ok()) << endpoint.status();
  return endpoint->address;
}

const NodeSpec& SpecOf(const NodeOptions& options) {
  const NodeSpec* const spec = FindNode(options.spec, options.name);
  CHECK(spec != nullptr) << "node " << options.name << " is not in the cluster spec";
  return *spec;
}

// Returns the scheme of the service in the spec, or the default for an unknown service.
TreeScheme SchemeOf(const ClusterSpec& cluster, const ServiceName& service) {
  const ServiceSpec* const spec = FindService(cluster, service.value());
  if (spec == nullptr) return TreeScheme::kLoadAdaptive;
  return ParseTreeScheme(spec->aggregation_tree()).value_or(TreeScheme::kLoadAdaptive);
}

// Starts an aggregation by datagram on a serving loop, because reductions run where the task is
// kept.
void PrepareTask(NodeLoops& loops, Aggregator& aggregator, std::string_view bytes) {
  loops.serving().front()->loop->Post(
      [&aggregator, task = std::string(bytes)] { aggregator.tasks().Prepare(task); });
}

}  // namespace

Node::Node(World& world, NodeOptions options)
    : world_(world),
      options_(std::move(options)),
      spec_(SpecOf(options_)),
      address_(AddressOf(options_)),
      incarnation_(static_cast<uint64_t>(world.wall_time().ns_since_1970)),
      counters_(std::make_unique<NodeMetrics>()),
      budgets_(std::make_unique<NodeBudgets>(options_.spec, spec_, world.resources())),
      spans_(std::make_unique<SpanLog>()),
      security_(std::make_unique<NodeSecurity>()),
      capsules_(std::make_unique<NodeCapsules>(world, metrics_, options_.with_default_capsule,
                                               options_.device_time)),
      runtime_(std::make_unique<NodeRuntime>(world)),
      operators_(std::make_unique<OperatorRegistry>()),
      client_(std::make_unique<Client>(runtime_->loops(), *operators_, metrics_, *spans_,
                                       capsules_->stack(),
                                       [this](const NodeId& node) { membership_->Exclude(node); })),
      services_(std::make_unique<HostedServices>(HostedServices::Environment{
          options_, spec_, world, runtime_->loops(), *operators_, *client_, metrics_, *spans_,
          sections_, *budgets_, *security_})),
      servers_(std::make_unique<NodeServers>(*runtime_, address_)),
      membership_(std::make_unique<NodeMembership>(
          NodeMembership::Environment{world, options_, *runtime_, *security_, metrics_, address_})),
      loop_watch_(std::make_unique<LoopWatch>()) {}

Node::~Node() = default;

Endpoint Node::call_endpoint() const { return servers_->call_endpoint(); }
Endpoint Node::control_endpoint() const { return servers_->control_endpoint(); }
CapsuleStack& Node::capsules() { return capsules_->stack(); }
NodeLoops& Node::loops() { return runtime_->loops(); }
const RefusalLog& Node::refusals() const { return security_->refusals(); }
const ServiceHosts& Node::services() const { return services_->all(); }
std::shared_ptr<const YellowPageView> Node::View() const { return membership_->View(); }
uint32_t Node::LoadIndex() const { return runtime_->loops().load_index(); }
Duration Node::PendingAggregationWork() const { return aggregator_->pending(); }

void Node::RunOnControl(Task body) {
  runtime_->Post([this, body = std::move(body)]() mutable {
    const Status started = runtime_->Spawn(std::move(body), "control");
    LOG_IF(ERROR, !started.ok()) << started;
  });
}

void Node::Start(absl::AnyInvocable<void(Status)> on_started) {
  const Status control = runtime_->StartControl();
  if (!control.ok()) return on_started(control);
  runtime_->Post([this, on_started = std::move(on_started)]() mutable {
    const Status boot = runtime_->Spawn(
        [this, on_started = std::move(on_started)]() mutable {
          const Status status = Boot();
          if (status.ok()) services_->Publish();
          boot_ended_ = true;
          on_started(status);
        },
        "boot");
    CHECK(boot.ok()) << boot;
  });
}

Status Node::Boot() {
  NEPTUNE_ASSIGN_OR_RETURN(*counters_, NodeMetrics::Make(metrics_));
  NEPTUNE_RETURN_IF_ERROR(
      security_->Load(world_, options_.spec, options_.name, options_.spec_directory, metrics_));
  if (options_.spec.has_node_tls()) {
    caller_policy_ = std::make_unique<const CallerPolicy>(options_.spec, options_.name);
  }
  NEPTUNE_RETURN_IF_ERROR(capsules_->Load(options_.spec, options_.name, options_.spec_directory));
  NEPTUNE_RETURN_IF_ERROR(StartBudgets());
  NEPTUNE_RETURN_IF_ERROR(MakeAggregator());
  NEPTUNE_RETURN_IF_ERROR(runtime_->StartLoops(spec_, KeepsReplicas(options_.spec, options_.name)));
  NEPTUNE_RETURN_IF_ERROR(
      runtime_->PrepareAll([this](NodeLoop& loop) { return PrepareLoop(loop); }));
  NEPTUNE_RETURN_IF_ERROR(OpenSpanLog());
  NEPTUNE_RETURN_IF_ERROR(StartServers());
  MakeReplication();
  NEPTUNE_RETURN_IF_ERROR(StartAdmin());
  NEPTUNE_RETURN_IF_ERROR(StartReplication());
  Status started;
  runtime_->RunForModules([&] { started = services_->StartAll(*aggregator_, *replication_); });
  NEPTUNE_RETURN_IF_ERROR(started);
  NEPTUNE_RETURN_IF_ERROR(StartMembership());
  return StartWatches();
}

Status Node::StartBudgets() {
  const bool stores = KeepsReplicas(options_.spec, options_.name);
  NEPTUNE_RETURN_IF_ERROR(budgets_->AddTo(metrics_, stores));
  if (!stores) return OkStatus();
  disk_watch_ = std::make_unique<DiskWatch>(world_.storage(), capsules_->stack(), budgets_->disk());
  return disk_watch_->Start();
}

Status Node::MakeAggregator() {
  AggregatorOptions options;
  if (options_.adjust_aggregations != nullptr) options_.adjust_aggregations(&options);
  options.scheme = [this](const ServiceName& name) { return SchemeOf(options_.spec, name); };
  options.poll_bind = {address_, 0};
  options.send = [this](std::string bytes, std::vector<Endpoint> to) {
    runtime_->Post(
        [this, bytes = std::move(bytes), to = std::move(to)] { membership_->SendTask(bytes, to); });
  };
  options.find_host = [this](const ServiceName& name) { return services_->Find(name.value()); };
  NEPTUNE_ASSIGN_OR_RETURN(aggregator_, Aggregator::Make(options_.name, runtime_->loops(), *client_,
                                                         metrics_, std::move(options)));
  client_->set_aggregator(aggregator_.get());
  return OkStatus();
}

Status Node::PrepareLoop(NodeLoop& loop) {
  loop.secured = security_->MakeNetwork(*loop.loop, budgets_->handshake_count_max());
  const ClusterSpec& spec = options_.spec;
  ClientOptions options;
  NEPTUNE_ASSIGN_OR_RETURN(options.balancing.policy, ParseBalancingPolicy(spec.balancing()));
  options.balancing.polling.poll_size = spec.poll_size();
  options.balancing.polling.discard_after = std::chrono::milliseconds(spec.poll_discard_ms());
  options.balancing.polling.stop_at_idle = !spec.poll_waits_for_all();
  options.balancing.make_policy = options_.make_replica_policy;
  options.poll_bind = {address_, 0};
  options.network = &loop.network();
  options.slow_polls = counters_->slow_polls;
  options.connections.connection.late_answers = counters_->late_answers;
  options.connections.connection.memory = budgets_->memory();
  options.doubt = [this](const Endpoint& endpoint) { membership_->Quarantine(endpoint); };
  NEPTUNE_ASSIGN_OR_RETURN(loop.client, LoopClient::Open(*loop.loop, options));
  return aggregator_->AddLoop();
}

// Opened and closed on the control loop.
Status Node::OpenSpanLog() {
  if (options_.span_log.empty()) return OkStatus();
  LineLogOptions options;
  options.path = options_.span_log;
  options.may_write = [this] { return budgets_->disk().may_log(); };
  NEPTUNE_ASSIGN_OR_RETURN(
      span_file_, LineLog::Open("spans", std::move(options), capsules_->stack(), metrics_));
  spans_->SetSink(
      [this](const Span& span) { span_file_->Append(OtlpLine(span, options_.name.value())); });
  return OkStatus();
}

Status Node::StartServers() {
  NEPTUNE_RETURN_IF_ERROR(servers_->StartCalls(
      static_cast<uint16_t>(spec_.call_port()), *counters_, *budgets_, [this]() -> RequestHandler {
        return [this](IncomingRequest&& request) { HandleRequest(std::move(request), false); };
      }));
  servers_->ServeLocally(*budgets_, [this](IncomingRequest&& request) {
    HandleRequest(std::move(request), /*at_control=*/false);
  });
  NEPTUNE_RETURN_IF_ERROR(servers_->StartControl(
      static_cast<uint16_t>(spec_.control_port()), *counters_, *budgets_,
      [this](IncomingRequest&& request) { HandleRequest(std::move(request), true); }));
  LoadIndexServer::Hooks hooks;
  hooks.load = [this](std::string_view service) { return Load(service); };
  hooks.gossip = [this] { return aggregator_->Gossip(runtime_->control().loop->Now()); };
  hooks.announcement = [this] { return membership_->Current(); };
  hooks.on_announcement = [this](std::string_view bytes) { HandleProbe(bytes); };
  return servers_->StartProbes(std::move(hooks));
}

void Node::MakeReplication() {
  Replication::Environment environment;
  environment.node = options_.name;
  environment.cluster = options_.spec.name();
  environment.world = &world_;
  environment.loops = &runtime_->loops();
  environment.control = &runtime_->control();
  if (KeepsReplicas(options_.spec, options_.name)) environment.apply = &runtime_->apply();
  environment.client = client_.get();
  environment.capsules = &capsules_->stack();
  environment.metrics = &metrics_;
  environment.disk = &budgets_->disk();
  environment.memory = budgets_->memory().budget;
  environment.options = [this](const ServiceName& name) -> std::optional<ReplicationOptions> {
    const ServiceSpec& service = *FindService(options_.spec, name.value());
    if (!service.has_replication()) return std::nullopt;
    return ReplicationOptionsOf(options_.spec, service);
  };
  environment.announce_soon = [this] { membership_->AnnounceSoon(); };
  environment.can_serve = [this] { return loop_watch_->CanServe(runtime_->control().loop->Now()); };
  replication_ = std::make_unique<Replication>(std::move(environment));
}

Status Node::StartAdmin() {
  status_ = std::make_unique<NodeStatus>(
      NodeStatus::Sources{*security_, *membership_, *client_, *aggregator_, *capsules_, *services_,
                          *spans_, *replication_, *loop_watch_, *budgets_});
  NEPTUNE_RETURN_IF_ERROR(status_->AddTo(sections_));
  if (!options_.with_admin) return OkStatus();
  const auto readiness = [this]() -> std::vector<std::string> {
    if (draining_) return {"the node is draining"};
    if (!services_->published()) return {"the node is starting"};
    std::vector<std::string> reasons = loop_watch_->Complaints(Loop::Current()->Now());
    if (auto reason = budgets_->WhyNotReady()) reasons.push_back(*std::move(reason));
    for (std::string& failure : replication_->Failures()) reasons.push_back(std::move(failure));
    return reasons;
  };
  const auto health = [this] { return loop_watch_->Complaints(Loop::Current()->Now()); };
  const auto is_member = [this](uint32_t address) {
    const auto view = View();
    if (view == nullptr) return false;
    const auto nodes = view->nodes();
    return std::any_of(nodes.begin(), nodes.end(), [address](const auto& announced) {
      return announced->call_endpoint.address == address;
    });
  };
  admin_ = std::make_unique<NodeAdmin>(NodeAdmin::Sources{
      world_, options_, spec_, metrics_, sections_, *capsules_, *services_, *replication_,
      readiness, health, [this](Loop& loop) { return security_->MakeAdminNetwork(loop); },
      is_member});
  NEPTUNE_ASSIGN_OR_RETURN(admin_endpoint_, admin_->Start(address_));
  return OkStatus();
}

// Starts the services of replication, which are not in the spec. Snapshots are large, so they do
// not share the connections of the protocol.
Status Node::StartReplication() {
  if (!KeepsReplicas(options_.spec, options_.name)) return OkStatus();
  NEPTUNE_RETURN_IF_ERROR(services_->StartOwn(ServiceName(kReplicationService),
                                              replication_->MakeModule(), /*is_control=*/true));
  NEPTUNE_RETURN_IF_ERROR(services_->StartOwn(ServiceName(kSnapshotService),
                                              replication_->MakeSnapshotModule(),
                                              /*is_control=*/false));
  for (const auto& [service, partition] : WitnessedBy(options_.spec, options_.name)) {
    NEPTUNE_RETURN_IF_ERROR(replication_->Host(service, partition, {}));
  }
  return OkStatus();
}

Status Node::StartMembership() {
  Announcement identity;
  identity.cluster = ClusterNumber(options_.spec.name());
  identity.node = options_.name;
  identity.incarnation = incarnation_;
  identity.call_endpoint = servers_->call_endpoint();
  identity.control_endpoint = servers_->control_endpoint();
  identity.probe_endpoint = servers_->probe_endpoint();
  identity.admin_endpoint = admin_endpoint_;
  NodeMembership::Hooks hooks;
  hooks.describe = [this](Announcement* announcement) { Describe(announcement); };
  hooks.send = [this](const Endpoint& to, std::string_view bytes) {
    servers_->SendProbe(to, bytes);
  };
  hooks.on_task = [this](std::string_view bytes) {
    PrepareTask(runtime_->loops(), *aggregator_, bytes);
  };
  return membership_->Start(std::move(identity), *counters_, std::move(hooks));
}

// The modules have started: that may keep a loop for long.
Status Node::StartWatches() {
  for (const auto& loop : runtime_->loops().all()) {
    const bool may_be_busy = loop->role == LoopRole::kWorking || loop->role == LoopRole::kApplying;
    loop_watch_->Add(loop->name, *loop->loop,
                     may_be_busy ? LoopWatch::Duty::kMayBeBusy : LoopWatch::Duty::kServes);
  }
  if (admin_ != nullptr) loop_watch_->Add("admin", admin_->loop(), LoopWatch::Duty::kAnswers);
  Loop& control = *runtime_->control().loop;
  NEPTUNE_RETURN_IF_ERROR(
      loop_watch_->Start(control, admin_ == nullptr ? nullptr : &admin_->loop(), metrics_));
  if (services_->all().empty()) return OkStatus();
  stall_watch_ = std::make_unique<StallWatch>(
      control,
      [this](TimePoint now) {
        return services_->StalledCount(now) + (loop_watch_->CanServe(now) ? 0 : 1);
      },
      [this] { membership_->AnnounceSoon(); });
  stall_watch_->Start();
  return OkStatus();
}

Status Node::WhyNotHere(const ServiceName& service) const {
  if (services_->published()) {
    return Unavailable("service ", service, " is not on node ", options_.name);
  }
  return Unavailable("node ", options_.name, draining_ ? " has stopped" : " is starting");
}

void Node::HandleRequest(IncomingRequest&& request, bool at_control) {
  // A connection stays at one of the ports, so what was found there once holds for all its requests
  // with these names.
  HandlerNote* const note = request.note;
  if (note != nullptr && note->service != nullptr && services_->published()) {
    return static_cast<ServiceHost*>(note->service)->Dispatch(std::move(request));
  }
  const ServiceName& service = request.header.service;
  ServiceHost* const host = services_->Find(service.value());
  if (host == nullptr) return request.reply.Send({.status = WhyNotHere(service)}, "");
  if (request.caller != nullptr && caller_policy_ != nullptr) {
    Status refusal = caller_policy_->Check(*request.caller, service.value());
    if (!refusal.ok()) {
      security_->NoteCaller(refusal);
      return request.reply.Send({.status = std::move(refusal)}, "");
    }
  }
  if (services_->is_control(service.value()) != at_control) {
    const Status refusal =
        InvalidArgument("service ", service, " is not answered at the ",
                        at_control ? "control" : "call", " port of node ", options_.name);
    return request.reply.Send({.status = refusal}, "");
  }
  if (request.header.method.value() == kAggregateMethod) {
    return aggregator_->tasks().Take(std::move(request), *host);
  }
  if (note != nullptr) note->service = host;
  host->Dispatch(std::move(request));
}

LoadReport Node::Load(std::string_view service) const {
  LoadReport report{LoadIndex(), Duration(0), aggregator_->pending()};
  const ServiceHost* const host = services_->Find(service);
  if (host != nullptr) report.silence = host->Silence(runtime_->control().loop->Now());
  return report;
}

void Node::HandleProbe(std::string_view bytes) {
  if (!IsDissemination(bytes)) return membership_->Receive(bytes);
  PrepareTask(runtime_->loops(), *aggregator_, bytes);
}

void Node::Describe(Announcement* announcement) {
  announcement->load_index = LoadIndex();
  const TimePoint now = runtime_->control().loop->Now();
  // A node with a loop that hangs is not to be called; its control services still answer.
  announcement->services = services_->Describe(now, /*with_all=*/loop_watch_->CanServe(now));
  announcement->sections[kAggregationLoadSection] =
      aggregator_->AnnouncedLoad(announcement->services);
  if (std::string versions = replication_->Announce(); !versions.empty()) {
    announcement->sections[kVersionSection] = std::move(versions);
  }
}

void Node::Stop(Duration grace, absl::AnyInvocable<void()> on_stopped) {
  if (!runtime_->has_control()) return on_stopped();
  runtime_->Post([this, grace, on_stopped = std::move(on_stopped)]() mutable {
    if (stopped_) return on_stopped();
    stop_waiters_.push_back(std::move(on_stopped));
    if (stop_waiters_.size() > 1) return;
    const Status started = runtime_->Spawn([this, grace] { Shutdown(grace); }, "stop");
    CHECK(started.ok()) << started;
  });
}

void Node::Shutdown(Duration grace) {
  while (!boot_ended_) this_thread::SleepFor(kBootPoll);
  draining_ = true;
  SayGoodbye();
  FinishCalls(grace);
  if (replication_ != nullptr) replication_->Stop();
  runtime_->RunForModules([this] { services_->StopModules(); });
  runtime_->EndModules();
  if (span_file_ != nullptr) span_file_->Close();
  StopThreads();
  if (!runtime_->WaitUntil([this] { return runtime_->OnlyThisThreadLives(); }, kThreadsEndMax)) {
    LOG(WARNING) << "user-level threads of node " << options_.name << " still run after its stop";
  }
  stopped_ = true;
  for (auto& on_stopped : std::exchange(stop_waiters_, {})) on_stopped();
}

void Node::SayGoodbye() {
  loop_watch_->Stop();
  if (stall_watch_ != nullptr) stall_watch_->Stop();
  membership_->Goodbye();
  this_thread::SleepFor(kGoodbyePause);
  servers_->Drain();
}

void Node::FinishCalls(Duration grace) {
  const auto finished = [this] { return servers_->InFlightCount() == 0 && LoadIndex() == 0; };
  if (!runtime_->WaitUntil(finished, grace)) {
    LOG(WARNING) << "node " << options_.name << " ends the waits of " << LoadIndex() << " requests";
    StopThreads();
    runtime_->WaitUntil(finished, kThreadsEndMax);
  }
  // Requests sent before callers received the drain are served; then callers close their
  // connections. Later requests are refused, and requests just received finish first.
  runtime_->WaitUntil([&] { return servers_->ConnectionCount() == 0 && finished(); }, kHangUpMax);
  services_->Close();
  runtime_->WaitUntil(finished, kHangUpMax);
}

void Node::StopThreads() {
  runtime_->RunOnAll([this](NodeLoop& loop) {
    if (loop.scheduler != nullptr) loop.scheduler->Stop();
    if (loop.client != nullptr) aggregator_->tasks().StopLoop();
  });
}

}  // namespace neptune
