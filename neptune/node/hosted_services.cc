#include "neptune/node/hosted_services.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/dac/aggregator.h"
#include "neptune/node/class_spec.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/node/hosted_module.h"
#include "neptune/node/node_budgets.h"
#include "neptune/node/node_security.h"
#include "neptune/sert/time_limit.h"
#include "neptune/service/client.h"

namespace neptune {

ServiceHost& HostedServices::Add(const ServiceName& name, std::vector<PartitionId> partitions,
                                 const ServiceHostOptions& options) {
  const ServiceHostParts parts = {.loops = environment_.loops,
                                  .operators = environment_.operators,
                                  .metrics = environment_.metrics,
                                  .spans = environment_.spans};
  auto host = std::make_unique<ServiceHost>(name, std::move(partitions), parts, options);
  return *hosts_.emplace(name.value(), std::move(host)).first->second;
}

ModuleContext& HostedServices::AddContext(ServiceHost& host) {
  ModuleContext context{
      .node = environment_.options.name,
      .service = host.service(),
      .partitions = host.partitions(),
      .base_directory = environment_.options.base_directory,
      .registrar = host,
      .client = environment_.client,
      .world = environment_.world,
      .metrics = environment_.metrics,
      .status = environment_.status,
      .memory = environment_.budgets.memory().budget,
      .connection_slots = environment_.budgets.slots(),
      .may_log = [&disk = environment_.budgets.disk()] { return disk.may_log(); },
      .derive_secrets = [&security = environment_.security](
                            std::string_view purpose) { return security.DeriveSecrets(purpose); }};
  return *contexts_.emplace_back(std::make_unique<ModuleContext>(std::move(context)));
}

Status HostedServices::StartOwn(const ServiceName& name, std::unique_ptr<ServiceModule> module,
                                bool is_control) {
  if (is_control) control_.insert(name.value());
  ServiceHost& host = Add(name, {PartitionId(0)}, ServiceHostOptions());
  ModuleContext& context = AddContext(host);
  return host.Start(std::move(module), context);
}

Status HostedServices::StartAll(Aggregator& aggregator, Replication& replication) {
  const auto& hosts = environment_.node.hosts();
  std::vector<std::unique_ptr<ServiceModule>> modules;
  for (const HostedServiceSpec& hosted : hosts) {
    NEPTUNE_ASSIGN_OR_RETURN(auto module, MakeHostedModule(environment_.options.spec, hosted,
                                                           environment_.options.modules));
    modules.push_back(std::move(module));
  }
  for (int i = 0; i < hosts.size(); ++i) {
    NEPTUNE_RETURN_IF_ERROR(
        Start(hosts[i], std::move(modules[static_cast<size_t>(i)]), aggregator, replication));
  }
  return OkStatus();
}

ServiceHostOptions HostedServices::OptionsOf(const ServiceSpec& service) const {
  const NodeOptions& node = environment_.options;
  ServiceHostOptions options;
  options.scheduling =
      SchedulerOptionsOf(node.spec, service,
                         std::min<double>(WorkingThreadsOf(environment_.node),
                                          environment_.world.processors().count()));
  options.class_rules = ClassRulesOf(node.spec, service);
  options.threads = ThreadSharesOf(node.spec, service);
  options.with_statistics = node.with_method_statistics;
  if (service.has_time_limit()) options.time_limit = TimeLimitOf(service.time_limit());
  if (node.stall_timeout) options.stall_timeout = *node.stall_timeout;
  return options;
}

Status HostedServices::Start(const HostedServiceSpec& hosted, std::unique_ptr<ServiceModule> module,
                             Aggregator& aggregator, Replication& replication) {
  const ClusterSpec& spec = environment_.options.spec;
  const ServiceSpec& service = *FindService(spec, hosted.service());
  std::vector<PartitionId> partitions;
  for (const uint32_t partition : hosted.partitions()) partitions.emplace_back(partition);
  const ServiceHostOptions options = OptionsOf(service);
  ServiceHost& host = Add(ServiceName(service.name()), std::move(partitions), options);
  ModuleContext& context = AddContext(host);
  context.scheduling = options.scheduling;
  context.class_of_api_key_hash = ClassesOfApiKeyHashes(spec);
  context.replication = &replication;
  NEPTUNE_RETURN_IF_ERROR(host.Start(std::move(module), context));
  aggregator.ServeStreams(host);
  return ShowImplementation(hosted, host);
}

Status HostedServices::ShowImplementation(const HostedServiceSpec& hosted,
                                          const ServiceHost& host) {
  NEPTUNE_ASSIGN_OR_RETURN(CallbackGauge what,
                           environment_.metrics.AddCallbackGauge(
                               "neptune_service_implementation",
                               "Always 1; the labels identify the implementation at start.",
                               {{"service", hosted.service()},
                                {"module", neptune::ModuleOf(environment_.options.spec, hosted)},
                                {"implementation", host.implementation()}},
                               [] { return 1.0; }));
  gauges_.push_back(std::move(what));
  return OkStatus();
}

ServiceHost* HostedServices::Find(std::string_view service) const {
  if (!published_) return nullptr;
  const auto found = hosts_.find(service);
  return found == hosts_.end() ? nullptr : found->second.get();
}

std::string HostedServices::ModuleOf(std::string_view service) const {
  const auto& hosts = environment_.node.hosts();
  const auto hosted = std::find_if(hosts.begin(), hosts.end(),
                                   [&](const auto& one) { return one.service() == service; });
  return hosted == hosts.end() ? "" : neptune::ModuleOf(environment_.options.spec, *hosted);
}

std::vector<HostedService> HostedServices::Describe(TimePoint now, bool with_all) const {
  std::vector<HostedService> services;
  for (const auto& [name, host] : hosts_) {
    if (!with_all && !is_control(name)) continue;
    HostedService hosted = host->Describe(now);
    hosted.is_control = is_control(name);
    if (!hosted.partitions.empty()) services.push_back(std::move(hosted));
  }
  return services;
}

size_t HostedServices::StalledCount(TimePoint now) const {
  return static_cast<size_t>(std::count_if(
      hosts_.begin(), hosts_.end(), [now](const auto& one) { return one.second->Stalled(now); }));
}

void HostedServices::StopModules() {
  const auto& hosts = environment_.node.hosts();
  for (auto hosted = hosts.rbegin(); hosted != hosts.rend(); ++hosted) {
    const auto found = hosts_.find(hosted->service());
    if (found == hosts_.end()) continue;
    if (found->second->load_index() == 0) {
      found->second->Stop();
    } else {
      LOG(ERROR) << "methods of " << hosted->service() << " still run: its module is not stopped";
    }
  }
}

}  // namespace neptune
