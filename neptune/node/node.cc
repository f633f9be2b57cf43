#include "neptune/node/node.h"

#include <glog/logging.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "neptune/admin/admin_server.h"
#include "neptune/base/secret_file.h"
#include "neptune/base/strings.h"
#include "neptune/node/class_spec.h"
#include "neptune/node/node_replicas.h"
#include "neptune/node/replication_spec.h"
#include "neptune/replication/agent/replication.h"
#include "neptune/sert/time_limit.h"
#include "neptune/service/call_statistics.h"
#include "neptune/service/loop_client.h"
#include "neptune/service/span_text.h"
#include "neptune/thread/synchronization.h"
#include "neptune/wire/http/problem.h"

namespace neptune {
namespace {

constexpr size_t kHandlerStackSize = 512 * 1024;
// Time for callers to receive the departure announcement before connections are drained.
constexpr Duration kGoodbyePause = std::chrono::milliseconds(50);
constexpr Duration kDrainPoll = std::chrono::milliseconds(5);
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

const std::string& ModuleOf(const ClusterSpec& spec, const HostedServiceSpec& hosted) {
  return hosted.module().empty() ? FindService(spec, hosted.service())->module() : hosted.module();
}

}  // namespace

Node::Node(World& world, NodeOptions options)
    : world_(world),
      options_(std::move(options)),
      spec_(SpecOf(options_)),
      address_(AddressOf(options_)),
      capsules_(world, metrics_, options_.with_default_capsule, options_.device_time),
      loops_(world),
      view_(std::make_shared<YellowPageView>()) {
  identity_.cluster = ClusterNumber(options_.spec.name());
  identity_.node = options_.name;
  identity_.incarnation = static_cast<uint64_t>(world.wall_time().ns_since_1970);
  client_ = std::make_unique<Client>(loops_, operators_, metrics_, spans_,
                                     capsules_.stack(),
                                     [this](const NodeId& node) {
                                       control_->loop->Post([this, node] {
                                         if (listener_ == nullptr) return;
                                         counters_.nodes_excluded->Increment();
                                         listener_->Exclude(node);
                                       });
                                     });
}

Node::~Node() {
  if (stall_timer_ != 0) control_->loop->CancelTimer(stall_timer_);
}

void Node::RunOnControl(Task body) {
  control_->loop->Post([this, body = std::move(body)]() mutable {
    const auto started = control_->scheduler->Spawn(std::move(body), "control");
    LOG_IF(ERROR, !started.ok()) << started.status();
  });
}

void Node::RunOn(NodeLoop& loop, absl::AnyInvocable<void()> work) {
  if (loop.loop == Loop::Current()) return work();
  OneShotEvent done;
  loop.loop->Post([&] {
    work();
    done.Set();
  });
  // The event lives on this stack frame, so wait for it even if the node stops.
  while (!done.is_set()) this_thread::ParkUntilWoken();
}

void Node::Start(absl::AnyInvocable<void(Status)> on_started) {
  const StatusOr<Loop*> loop = world_.StartLoop({.name = "serve-0"});
  if (!loop.ok()) return on_started(loop.status());
  control_ = &loops_.Add("serve-0", LoopPriority::kServing, *loop);
  (*loop)->Post([this, on_started = std::move(on_started)]() mutable {
    control_->scheduler = std::make_unique<ThreadScheduler>(
        *control_->loop, ThreadSchedulerOptions{.stack_size = kHandlerStackSize});
    const auto boot =
        control_->scheduler->Spawn([this, on_started = std::move(on_started)]() mutable {
          const Status status = Boot();
          ready_ = status.ok();
          boot_ended_ = true;
          on_started(status);
        });
    CHECK(boot.ok()) << boot.status();
  });
}

Status Node::Boot() {
  NEPTUNE_ASSIGN_OR_RETURN(counters_, NodeMetrics::Make(metrics_));
  NEPTUNE_RETURN_IF_ERROR(
      security_.Load(world_, options_.spec, options_.name, options_.spec_directory, metrics_));
  NEPTUNE_RETURN_IF_ERROR(capsules_.Load(options_.spec, options_.name, options_.spec_directory));
  NEPTUNE_RETURN_IF_ERROR(MakeAggregator());
  NEPTUNE_RETURN_IF_ERROR(StartLoops());
  NEPTUNE_RETURN_IF_ERROR(OpenSpanLog());
  NEPTUNE_RETURN_IF_ERROR(StartServers());
  NEPTUNE_RETURN_IF_ERROR(AddStatusSections());
  if (options_.with_admin) NEPTUNE_RETURN_IF_ERROR(StartAdmin());
  NEPTUNE_RETURN_IF_ERROR(StartReplication());
  NEPTUNE_RETURN_IF_ERROR(StartServices());
  return StartMembership();
}

Status Node::MakeAggregator() {
  AggregatorOptions options;
  options.scheme = [this](const ServiceName& service) { return SchemeOf(service); };
  options.load_oracle = options_.load_oracle;
  options.dissemination = options_.dissemination;
  if (options_.recheck_one_in) options.recheck_one_in = *options_.recheck_one_in;
  options.poll_bind = {address_, 0};
  options.tell = [this](std::string bytes, std::vector<Endpoint> to) {
    control_->loop->Post([this, bytes = std::move(bytes), to = std::move(to)] { Tell(bytes, to); });
  };
  options.find_host = [this](const ServiceName& service) -> ServiceHost* {
    if (!ready_) return nullptr;  // hosts_ is still changing
    const auto found = hosts_.find(service.value());
    return found == hosts_.end() ? nullptr : found->second.get();
  };
  options.loads = options_.load_estimator;
  options.poll_count = options_.load_poll_count;
  options.hears = options_.hears_loads;
  NEPTUNE_ASSIGN_OR_RETURN(
      aggregator_, Aggregator::Make(options_.name, loops_, *client_, metrics_, std::move(options)));
  client_->set_aggregator(aggregator_.get());
  return OkStatus();
}

// Returns the scheme of the service in the spec, or the default for an unknown service.
TreeScheme Node::SchemeOf(const ServiceName& service) const {
  const ServiceSpec* const spec = FindService(options_.spec, service.value());
  if (spec == nullptr) return TreeScheme::kLoadAdaptive;
  return ParseTreeScheme(spec->aggregation_tree()).value_or(TreeScheme::kLoadAdaptive);
}

Status Node::StartLoops() {
  for (uint32_t i = 1; i < spec_.serving_threads(); ++i) {
    const std::string name = StrCat("serve-", i);
    NEPTUNE_ASSIGN_OR_RETURN(Loop* const loop, world_.StartLoop({.name = name}));
    loops_.Add(name, LoopPriority::kServing, loop);
  }
  for (uint32_t i = 0; i < spec_.worker_threads(); ++i) {
    const std::string name = StrCat("work-", i);
    NEPTUNE_ASSIGN_OR_RETURN(
        Loop* const loop, world_.StartLoop({.name = name, .priority = LoopPriority::kBackground}));
    loops_.Add(name, LoopPriority::kBackground, loop);
  }
  for (const auto& loop : loops_.all()) {
    Status status;
    RunOn(*loop, [&] { status = PrepareLoop(*loop); });
    NEPTUNE_RETURN_IF_ERROR(status);
  }
  return OkStatus();
}

Status Node::PrepareLoop(NodeLoop& loop) {
  loop.secured = security_.MakeNetwork(*loop.loop);
  if (loop.scheduler == nullptr) {
    loop.scheduler = std::make_unique<ThreadScheduler>(
        *loop.loop, ThreadSchedulerOptions{.stack_size = kHandlerStackSize});
  }
  ClientOptions options;
  NEPTUNE_ASSIGN_OR_RETURN(options.balancing.policy,
                           ParseBalancingPolicy(options_.spec.balancing()));
  options.balancing.polling.poll_size = options_.spec.poll_size();
  options.balancing.polling.discard_after =
      std::chrono::milliseconds(options_.spec.poll_discard_ms());
  options.balancing.polling.stop_at_idle = !options_.spec.poll_waits_for_all();
  options.balancing.make_policy = options_.make_replica_policy;
  options.poll_bind = {address_, 0};
  options.network = &loop.network();
  options.slow_polls = counters_.slow_polls;
  options.connections.connection.late_answers = counters_.late_answers;
  options.doubt = [this](const Endpoint& endpoint) {
    control_->loop->Post([this, endpoint] {
      if (listener_ != nullptr) listener_->Quarantine(endpoint);
    });
  };
  NEPTUNE_ASSIGN_OR_RETURN(loop.client, LoopClient::Open(*loop.loop, options));
  NEPTUNE_RETURN_IF_ERROR(aggregator_->AddLoop());
  return OkStatus();
}

// Written by the control loop only.
Status Node::OpenSpanLog() {
  if (options_.span_log.empty()) return OkStatus();
  LineLogOptions options;
  options.path = options_.span_log;
  NEPTUNE_ASSIGN_OR_RETURN(span_file_,
                           LineLog::Open("spans", std::move(options), capsules_.stack(), metrics_));
  spans_.SetSink(
      [this](const Span& span) { span_file_->Append(OtlpLine(span, options_.name.value())); });
  return OkStatus();
}

Status Node::StartServers() {
  const bool share_port = loops_.serving().size() > 1;
  Endpoint at{address_, static_cast<uint16_t>(spec_.call_port())};
  for (NodeLoop* const loop : loops_.serving()) {
    Status status;
    RunOn(*loop, [&] {
      FrameServerOptions options;
      options.network = &loop->network();
      options.broken_connections = counters_.broken_connections;
      options.refused_connections = counters_.refused_connections;
      auto server = std::make_unique<FrameServer>(
          *loop->loop, options,
          [this](IncomingRequest&& request) { HandleRequest(std::move(request)); });
      status = server->Listen(at, share_port);
      if (status.ok()) at = server->local();
      servers_.push_back(std::move(server));
    });
    NEPTUNE_RETURN_IF_ERROR(status);
  }
  identity_.call_endpoint = at;
  LoadIndexServer::Hooks hooks;
  hooks.load = [this](std::string_view service) { return Load(service); };
  hooks.heard = [this] { return aggregator_->Gossip(control_->loop->Now()); };
  hooks.announcement = [this]() -> StatusOr<std::string> {
    if (publisher_ == nullptr) return Unavailable("the node is starting");
    return publisher_->Current();
  };
  hooks.on_announcement = [this](std::string_view bytes) { HandleProbeAnswer(bytes); };
  NEPTUNE_ASSIGN_OR_RETURN(load_index_server_,
                           LoadIndexServer::Open(*control_->loop, {address_, 0}, std::move(hooks),
                                                 &control_->network()));
  identity_.probe_endpoint = load_index_server_->local();
  return OkStatus();
}

// Starts the replication service, which every node hosts and which is not in the spec.
Status Node::StartReplication() {
  Replication::Environment environment;
  environment.node = options_.name;
  environment.cluster = options_.spec.name();
  environment.world = &world_;
  environment.loops = &loops_;
  environment.control = control_;
  environment.client = client_.get();
  environment.capsules = &capsules_.stack();
  environment.metrics = &metrics_;
  environment.options = [this](const ServiceName& name) -> std::optional<ReplicationOptions> {
    const ServiceSpec& service = *FindService(options_.spec, name.value());
    if (!service.has_replication()) return std::nullopt;
    return ReplicationOptionsOf(options_.spec, service);
  };
  environment.announce_soon = [this] {
    if (publisher_ != nullptr && !draining_) publisher_->AnnounceSoon();
  };
  replication_ = std::make_unique<Replication>(std::move(environment));
  const auto witnessed = WitnessedBy(options_.spec, options_.name);
  if (!KeepsReplicas(options_.spec, options_.name)) return OkStatus();
  const ServiceName name(kReplicationService);
  auto host = std::make_unique<ServiceHost>(name, std::vector<PartitionId>{PartitionId(0)}, loops_,
                                            operators_, metrics_, spans_, ServiceHostOptions());
  ModuleContext context{
      options_.name, name,     {PartitionId(0)}, {},       options_.base_directory,
      *host,         *client_, world_,           metrics_, status_};
  ServiceHost* const started = host.get();
  hosts_.emplace(name.value(), std::move(host));
  NEPTUNE_RETURN_IF_ERROR(started->Start(replication_->MakeModule(), context));
  for (const auto& [service, partition] : witnessed) {
    NEPTUNE_RETURN_IF_ERROR(replication_->Host(service, partition, nullptr, nullptr));
  }
  return OkStatus();
}

Status Node::StartServices() {
  for (const HostedServiceSpec& hosted : spec_.hosts()) {
    NEPTUNE_RETURN_IF_ERROR(StartService(hosted));
  }
  return OkStatus();
}

Status Node::StartService(const HostedServiceSpec& hosted) {
  const ServiceSpec& service = *FindService(options_.spec, hosted.service());
  NEPTUNE_ASSIGN_OR_RETURN(auto module, options_.modules(ModuleOf(options_.spec, hosted)));
  std::vector<PartitionId> partitions;
  for (const uint32_t partition : hosted.partitions()) partitions.emplace_back(partition);
  ServiceHostOptions host_options;
  host_options.scheduling =
      SchedulerOptionsOf(options_.spec, service,
                         std::min<double>(spec_.worker_threads(), world_.processors().count()));
  host_options.class_rules = ClassRulesOf(options_.spec, service);
  host_options.threads = ThreadSharesOf(options_.spec, service);
  host_options.with_statistics = options_.with_method_statistics;
  if (service.has_time_limit()) host_options.time_limit = TimeLimitOf(service.time_limit());
  if (options_.stall_timeout) host_options.stall_timeout = *options_.stall_timeout;
  auto host = std::make_unique<ServiceHost>(ServiceName(service.name()), partitions, loops_,
                                            operators_, metrics_, spans_, host_options);
  ModuleContext context{options_.name,
                        ServiceName(service.name()),
                        partitions,
                        EffectiveParameters(options_.spec, hosted),
                        options_.base_directory,
                        *host,
                        *client_,
                        world_,
                        metrics_,
                        status_,
                        host_options.scheduling,
                        ClassesOfApiKeys(options_.spec),
                        replication_.get()};
  ServiceHost* const started = host.get();
  hosts_.emplace(service.name(), std::move(host));
  NEPTUNE_RETURN_IF_ERROR(started->Start(std::move(module), context));
  aggregator_->ServeStreams(*started);
  NEPTUNE_ASSIGN_OR_RETURN(
      CallbackGauge what,
      metrics_.AddCallbackGauge("neptune_service_implementation",
                                "Always 1; the labels identify the implementation at start.",
                                {{"service", service.name()},
                                 {"module", ModuleOf(options_.spec, hosted)},
                                 {"implementation", started->implementation()}},
                                [] { return 1.0; }));
  gauges_.push_back(std::move(what));
  return OkStatus();
}

void Node::HandleRequest(IncomingRequest&& request) {
  Reply& reply = request.reply;
  if (!ready_) {  // another loop may still be adding to hosts_
    const char* const why = draining_ ? " has stopped" : " is starting";
    return reply.Send({.status = Unavailable("node ", options_.name, why)}, "");
  }
  const ServiceName& service = request.header.service;
  const auto found = hosts_.find(service.value());
  if (found == hosts_.end()) {
    return reply.Send(
        {.status = Unavailable("service ", service, " is not on node ", options_.name)}, "");
  }
  if (request.header.method.value() == kAggregateMethod) {
    return aggregator_->tasks().Take(std::move(request), *found->second);
  }
  found->second->Dispatch(std::move(request));
}

LoadReport Node::Load(std::string_view service) const {
  LoadReport report{LoadIndex(), Duration(0), aggregator_->pending()};
  if (!ready_) return report;  // hosts_ is still changing
  const auto found = hosts_.find(service);
  if (found != hosts_.end()) report.silence = found->second->Silence(control_->loop->Now());
  return report;
}

StatusOr<std::string> Node::ReadAdminToken() const {
  if (options_.spec.admin_token_file().empty()) return std::string();
  return LoadSecret(
      (std::filesystem::path(options_.spec_directory) / options_.spec.admin_token_file()).string());
}

// The administration has its own loop, so that it answers when all other loops are busy.
Status Node::StartAdmin() {
  NEPTUNE_ASSIGN_OR_RETURN(Loop* const loop, world_.StartLoop({.name = "admin"}));
  AdminSources sources;
  sources.node_name = StrCat(options_.name, " of cluster ", options_.spec.name());
  sources.metrics = &metrics_;
  sources.sections = &status_;
  sources.readiness = [this]() -> std::vector<std::string> {
    if (draining_) return {"the node is draining"};
    if (!ready_) return {"the node is starting"};
    return {};
  };
  NEPTUNE_ASSIGN_OR_RETURN(sources.token, ReadAdminToken());
  admin_ = std::make_unique<AdminServer>(world_, *loop, std::move(sources));
  admin_->AddPage("/capsules", "the dependency capsules, in the format of a capsule file",
                  [this](const HttpRequest&) { return capsules_.Show(); });
  admin_->AddAction("POST", "/capsules",
                    [this](const HttpRequest& request) { return capsules_.Put(request); });
  admin_->AddAction("DELETE", "/capsules",
                    [this](const HttpRequest& request) { return capsules_.Remove(request); });
  const auto when_ready = [this](auto answer) -> HttpHandler {
    return [this, answer](const HttpRequest& request) {
      if (!ready_)
        return ProblemResponse(Unavailable("the node is starting"));  // hosts_ is still changing
      return answer(request);
    };
  };
  admin_->AddPage("/services", "the services, their threads, and the totals of each service class",
                  when_ready([this](const HttpRequest&) { return ShowServices(hosts_); }));
  for (const HostedServiceSpec& hosted : spec_.hosts()) {
    admin_->AddAction("PUT", StrCat("/services/", hosted.service(), "/threads"),
                      when_ready([this, &hosted](const HttpRequest& request) {
                        return PutThreads(request, hosts_.at(hosted.service()).get());
                      }));
  }
  admin_->AddAction("POST", "/replicas/start", when_ready([this](const HttpRequest& request) {
                      return StartReplica(request, *replication_);
                    }));
  if (options_.add_admin_pages != nullptr) options_.add_admin_pages(*admin_);
  OneShotEvent started;
  StatusOr<Endpoint> endpoint = Unavailable("not started");
  loop->Post([&] {
    admin_->Start({address_, static_cast<uint16_t>(spec_.admin_port())},
                  [&](StatusOr<Endpoint> result) {
                    endpoint = std::move(result);
                    started.Set();
                  });
  });
  while (!started.is_set()) this_thread::ParkUntilWoken();
  NEPTUNE_ASSIGN_OR_RETURN(identity_.admin_endpoint, std::move(endpoint));
  return OkStatus();
}

Status Node::AddStatusSections() {
  const auto add = [&](std::string_view name, StatusSections::RenderFunction render) -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(StatusSection section, status_.Add(name, std::move(render)));
    sections_.push_back(std::move(section));
    return OkStatus();
  };
  NEPTUNE_RETURN_IF_ERROR(
      add("security", [this](StatusReport* report) { security_.Show(report); }));
  NEPTUNE_RETURN_IF_ERROR(add("yellow page", [this](StatusReport* report) {
    const auto view = View();
    StatusTable nodes{"Nodes",
                      {"node", "calls at", "status at", "load index", "cpu permille", "io permille",
                       "draining", "sequence"},
                      {}};
    for (const auto& said : view->nodes()) {
      nodes.AddRow(said->node, said->call_endpoint.ToString(), said->admin_endpoint.ToString(),
                   said->load_index, said->cpu_load_permille, said->io_load_permille,
                   said->draining, said->sequence);
    }
    StatusTable services{"Services", {"service", "partition", "node", "implementation"}, {}};
    for (const auto& [key, replicas] : view->all()) {
      for (const Replica& replica : replicas) {
        services.AddRow(key.first, key.second.value(), replica.node, replica.implementation);
      }
    }
    report->tables = {std::move(nodes), std::move(services)};
  }));
  NEPTUNE_RETURN_IF_ERROR(
      add("calls", [this](StatusReport* report) { client_->statistics().Describe(report); }));
  NEPTUNE_RETURN_IF_ERROR(
      add("aggregations", [this](StatusReport* report) { aggregator_->Describe(report); }));
  NEPTUNE_RETURN_IF_ERROR(
      add("capsules", [this](StatusReport* report) { capsules_.Describe(report); }));
  NEPTUNE_RETURN_IF_ERROR(add("service classes", [this](StatusReport* report) {
    if (ready_) DescribeClasses(hosts_, report);
  }));
  NEPTUNE_RETURN_IF_ERROR(add("replicas", [this](StatusReport* report) {
    if (ready_) replication_->Describe(report);
  }));
  NEPTUNE_RETURN_IF_ERROR(add("traces", [this](StatusReport* report) { spans_.Describe(report); }));
  return add("hosted services", [this](StatusReport* report) {
    StatusTable table{"Services on this node",
                      {"service", "implementation", "module", "partitions", "waiting", "load index",
                       "time limit"},
                      {}};
    if (ready_) {
      for (const auto& [name, host] : hosts_) {
        std::string partitions;
        for (const PartitionId& p : host->partitions()) StrAppend(&partitions, p, " ");
        const TimeLimit* const limit = host->time_limit();
        const auto hosted = std::find_if(spec_.hosts().begin(), spec_.hosts().end(),
                                         [&](const auto& one) { return one.service() == name; });
        table.AddRow(name, host->implementation(),
                     hosted == spec_.hosts().end() ? "" : ModuleOf(options_.spec, *hosted),
                     partitions, host->queue_length(), host->load_index(),
                     limit == nullptr ? "none" : StrCat(ToMillis(limit->threshold()), " ms"));
      }
    }
    report->tables.push_back(std::move(table));
  });
}

void Node::Stop(Duration grace, absl::AnyInvocable<void()> on_stopped) {
  if (control_ == nullptr) return on_stopped();
  control_->loop->Post([this, grace, on_stopped = std::move(on_stopped)]() mutable {
    if (stopped_) return on_stopped();
    stop_waiters_.push_back(std::move(on_stopped));
    if (stop_waiters_.size() > 1) return;
    const auto started = control_->scheduler->Spawn([this, grace] { Shutdown(grace); }, "stop");
    CHECK(started.ok()) << started.status();
  });
}

void Node::Shutdown(Duration grace) {
  while (!boot_ended_) this_thread::SleepFor(kDrainPoll);
  draining_ = true;
  SayGoodbye();
  FinishCalls(grace);
  if (replication_ != nullptr) replication_->Stop();
  StopModules();
  if (span_file_ != nullptr) span_file_->Close();
  StopThreads();
  if (!WaitUntil([this] { return OnlyThisThreadLives(); }, kThreadsEndMax)) {
    LOG(WARNING) << "user-level threads of node " << options_.name << " still run after its stop";
  }
  stopped_ = true;
  for (auto& tell : std::exchange(stop_waiters_, {})) tell();
}

void Node::SayGoodbye() {
  if (publisher_ != nullptr) publisher_->Goodbye();
  this_thread::SleepFor(kGoodbyePause);
  for (size_t i = 0; i < servers_.size(); ++i) {
    RunOn(*loops_.serving()[i], [&] { servers_[i]->Drain(); });
  }
}

void Node::FinishCalls(Duration grace) {
  const auto finished = [this] { return InFlightCount() == 0 && LoadIndex() == 0; };
  if (!WaitUntil(finished, grace)) {
    LOG(WARNING) << "node " << options_.name << " ends the waits of " << LoadIndex() << " requests";
    StopThreads();
    WaitUntil(finished, kThreadsEndMax);
  }
  // Requests sent before callers received the drain are served; then callers close their
  // connections. Later requests are refused, and requests just received finish first.
  WaitUntil([&] { return ConnectionCount() == 0 && finished(); }, kHangUpMax);
  ready_ = false;
  WaitUntil(finished, kHangUpMax);
}

// Stops modules in the reverse order of starting, so that a frontend stops before the services it
// calls.
void Node::StopModules() {
  for (auto it = spec_.hosts().rbegin(); it != spec_.hosts().rend(); ++it) {
    const auto found = hosts_.find(it->service());
    if (found == hosts_.end()) continue;
    if (found->second->load_index() == 0) {
      found->second->Stop();
    } else {
      LOG(ERROR) << "methods of " << it->service() << " still run: its module is not stopped";
    }
  }
}

void Node::StopThreads() {
  for (const auto& loop : loops_.all()) {
    RunOn(*loop, [&] {
      if (loop->scheduler != nullptr) loop->scheduler->Stop();
      if (loop->client != nullptr) aggregator_->tasks().StopLoop();
    });
  }
}

bool Node::OnlyThisThreadLives() {
  size_t live_count = 0;
  for (const auto& loop : loops_.all()) {
    RunOn(*loop, [&] {
      if (loop->scheduler != nullptr) live_count += loop->scheduler->live_count();
    });
  }
  return live_count <= 1;
}

bool Node::WaitUntil(const std::function<bool()>& done, Duration limit) {
  const TimePoint end = AddSaturated(control_->loop->Now(), limit);
  while (!done()) {
    if (control_->loop->Now() >= end) return false;
    OneShotEvent pause;
    control_->loop->RunAt(control_->loop->Now() + kDrainPoll, [&] { pause.Set(); });
    while (!pause.is_set()) this_thread::ParkUntilWoken();
  }
  return true;
}

size_t Node::ConnectionCount() {
  size_t count = 0;
  for (size_t i = 0; i < servers_.size(); ++i) {
    RunOn(*loops_.serving()[i], [&] { count += servers_[i]->connection_count(); });
  }
  return count;
}

size_t Node::InFlightCount() {
  size_t count = 0;
  for (size_t i = 0; i < servers_.size(); ++i) {
    RunOn(*loops_.serving()[i], [&] { count += servers_[i]->in_flight_count(); });
  }
  return count;
}

}  // namespace neptune
