// The services that a node hosts.
//
// Invariant: the set changes only while the node starts. Until it is published and after it is
// closed, other loops see no service at all: Find returns null.
//
// Threads: StartOwn, StartAll and StopModules on a user-level thread that is fit for modules
//   (NodeRuntime::RunForModules); the rest on any loop.
// Errors: StartOwn, StartAll: those of the module and of its factory.

#pragma once

#include <atomic>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/node/node_options.h"
#include "neptune/node/node_services.h"

namespace neptune {

class Aggregator;
class Client;
class NodeBudgets;
class NodeLoops;
class OperatorRegistry;
class NodeSecurity;
class Replication;
class SpanLog;
class StatusSections;

class HostedServices {
 public:
  // What the hosts and modules use; outlives this.
  struct Environment {
    const NodeOptions& options;
    const NodeSpec& node;
    World& world;
    NodeLoops& loops;
    OperatorRegistry& operators;
    Client& client;
    MetricsRegistry& metrics;
    SpanLog& spans;
    StatusSections& status;
    const NodeBudgets& budgets;
    const NodeSecurity& security;
  };
  explicit HostedServices(const Environment& environment) : environment_(environment) {}

  // Starts a module that is not in the spec as a service of one partition. A control service is
  // called at the node's control endpoint.
  Status StartOwn(const ServiceName& name, std::unique_ptr<ServiceModule> module, bool is_control);
  // Starts the services that the spec lists for the node, in its order. None starts unless the
  // parameters of all are valid.
  Status StartAll(Aggregator& aggregator, Replication& replication);
  // Shows the services to other loops. Close hides them again.
  void Publish() { published_ = true; }
  void Close() { published_ = false; }
  bool published() const { return published_; }

  // Null: the service is not here, or the services are not published.
  ServiceHost* Find(std::string_view service) const;
  // REQUIRES: published, or on the control loop.
  bool is_control(std::string_view service) const { return control_.contains(service); }
  // REQUIRES: published, or on the control loop.
  const ServiceHosts& all() const { return hosts_; }
  // Name of the module that implements the service here; empty for one that is not in the spec.
  std::string ModuleOf(std::string_view service) const;

  // On the control loop. Without users' services unless `with_all`.
  std::vector<HostedService> Describe(TimePoint now, bool with_all) const;
  size_t StalledCount(TimePoint now) const;

  // Stops modules in the reverse order of starting, so that a frontend stops before the services it
  // calls. A module whose methods still run is not stopped.
  void StopModules();

 private:
  ServiceHost& Add(const ServiceName& name, std::vector<PartitionId> partitions,
                   const ServiceHostOptions& options);
  ServiceHostOptions OptionsOf(const ServiceSpec& service) const;
  // The environment of the host's module, which refers to it until it is destroyed.
  ModuleContext& AddContext(ServiceHost& host);
  Status Start(const HostedServiceSpec& hosted, std::unique_ptr<ServiceModule> module,
               Aggregator& aggregator, Replication& replication);
  Status ShowImplementation(const HostedServiceSpec& hosted, const ServiceHost& host);

  const Environment environment_;
  std::vector<std::unique_ptr<ModuleContext>> contexts_;  // destroyed after the modules
  ServiceHosts hosts_;
  std::set<std::string, std::less<>> control_;  // names of control services
  std::vector<CallbackGauge> gauges_;
  std::atomic<bool> published_{false};
};

}  // namespace neptune
