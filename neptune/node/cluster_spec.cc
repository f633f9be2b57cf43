#include "neptune/node/cluster_spec.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "neptune/balancing/replica_choice.h"
#include "neptune/base/file.h"
#include "neptune/base/plain_name.h"
#include "neptune/base/strings.h"
#include "neptune/base/text_config.h"
#include "neptune/capsule/capsule_text.h"
#include "neptune/dac/reduction_tree.h"
#include "neptune/membership/announcement_folder.h"
#include "neptune/membership/etcd_channel.h"
#include "neptune/node/capsule_spec.h"
#include "neptune/node/class_spec.h"
#include "neptune/node/replication_spec.h"
#include "neptune/replication/agent/replica_links.h"
#include "neptune/sert/time_limit.h"
#include "neptune/world/network.h"

namespace neptune {
namespace {

constexpr uint32_t kThreadsMax = 64;
constexpr uint32_t kQueueLengthMax = 100000;
constexpr uint32_t kPortMax = 65535;

Status CheckName(std::string_view kind, std::string_view name) {
  if (name.empty()) return InvalidArgument("a ", kind, " has no name");
  if (name.size() > kPlainNameSizeMax) {
    return InvalidArgument(kind, " name '", name, "' is too long");
  }
  if (IsPlainName(name)) return OkStatus();
  return InvalidArgument(kind, " name '", name, "' may hold letters, digits, '-', '_' and '.'");
}

// Fills in a default and checks the upper bound.
template <typename Set>
Status CheckNumber(std::string_view what, uint32_t value, uint32_t fallback, uint32_t max,
                   Set set) {
  if (value == 0) set(fallback);
  if (value > max) return InvalidArgument(what, " is ", value, "; the maximum is ", max);
  return OkStatus();
}

Status CheckParameters(const std::string& where,
                       const google::protobuf::RepeatedPtrField<Parameter>& parameters) {
  std::set<std::string> keys;
  for (const Parameter& parameter : parameters) {
    if (parameter.key().empty()) return InvalidArgument(where, " has a parameter without a key");
    if (!keys.insert(parameter.key()).second) {
      return InvalidArgument(where, " has the parameter '", parameter.key(), "' twice");
    }
  }
  return OkStatus();
}

Status CheckTimeLimit(const std::string& where, const ServiceSpec& service) {
  if (!service.has_time_limit()) return OkStatus();
  const std::string& order = service.time_limit().ending_order();
  if (!order.empty()) {
    NEPTUNE_RETURN_IF_ERROR(Annotate(ParseEndingOrder(order).status(), where + ": time_limit"));
  }
  const char* const fault = FaultOf(TimeLimitOf(service.time_limit()).threshold);
  if (fault == nullptr) return OkStatus();
  return InvalidArgument(where, ": time_limit: ", fault);
}

Status CompleteService(ServiceSpec* service) {
  NEPTUNE_RETURN_IF_ERROR(CheckName("service", service->name()));
  const std::string where = StrCat("service '", service->name(), "'");
  if (service->name() == kReplicationService) {
    return InvalidArgument(where, ": the name is reserved for the runtime");
  }
  if (service->module().empty()) return InvalidArgument(where, " has no module");
  NEPTUNE_RETURN_IF_ERROR(CheckParameters(where, service->parameters()));
  NEPTUNE_RETURN_IF_ERROR(CheckNumber(where + ": partition_count", service->partition_count(), 1,
                                      kClusterPartitionCountMax,
                                      [&](uint32_t n) { service->set_partition_count(n); }));
  NEPTUNE_RETURN_IF_ERROR(CheckNumber(where + ": queue_length_max", service->queue_length_max(), 40,
                                      kQueueLengthMax,
                                      [&](uint32_t n) { service->set_queue_length_max(n); }));
  if (service->aggregation_tree().empty()) service->set_aggregation_tree("lat");
  NEPTUNE_RETURN_IF_ERROR(Annotate(ParseTreeScheme(service->aggregation_tree()).status(), where));
  NEPTUNE_RETURN_IF_ERROR(CheckTimeLimit(where, *service));
  return CheckNumber(where + ": concurrency", service->concurrency(), 8, kConcurrencyMax,
                     [&](uint32_t n) { service->set_concurrency(n); });
}

Status CompleteHosted(const ClusterSpec& spec, const std::string& where,
                      HostedServiceSpec* hosted) {
  const ServiceSpec* const service = FindService(spec, hosted->service());
  if (service == nullptr) {
    return InvalidArgument(where, " hosts '", hosted->service(),
                           "', which is not a service of the cluster");
  }
  NEPTUNE_RETURN_IF_ERROR(CheckParameters(where, hosted->parameters()));
  if (hosted->partitions().empty()) {
    for (uint32_t p = 0; p < service->partition_count(); ++p) hosted->add_partitions(p);
  }
  std::set<uint32_t> seen;
  for (const uint32_t partition : hosted->partitions()) {
    if (partition >= service->partition_count()) {
      return InvalidArgument(where, " hosts partition ", partition, " of '", service->name(),
                             "', which has ", service->partition_count());
    }
    if (!seen.insert(partition).second) {
      return InvalidArgument(where, " hosts partition ", partition, " of '", service->name(),
                             "' twice");
    }
  }
  return OkStatus();
}

Status CheckBudgets(const std::string& where, const NodeSpec& node) {
  const struct {
    const char* name;
    uint32_t value;
    uint32_t min;
    uint32_t max;
  } budgets[] = {
      {"memory_budget_mib", node.memory_budget_mib(), kMemoryBudgetMibMin, kMemoryBudgetMibMax},
      {"connection_count_max", node.connection_count_max(), kConnectionLimitMin,
       kConnectionLimitMax},
      {"disk_reserve_mib", node.disk_reserve_mib(), 1, kDiskReserveMibMax}};
  for (const auto& [name, value, min, max] : budgets) {
    if (value == 0 || (value >= min && value <= max)) continue;
    return InvalidArgument(where, ": ", name, " is ", value, "; expected ", min, " to ", max);
  }
  return OkStatus();
}

Status CompleteNode(const ClusterSpec& spec, NodeSpec* node) {
  NEPTUNE_RETURN_IF_ERROR(CheckName("node", node->name()));
  const std::string where = StrCat("node '", node->name(), "'");
  const auto keep = [](uint32_t) {};
  NEPTUNE_RETURN_IF_ERROR(CheckNumber(where + ": call_port", node->call_port(), 0, kPortMax, keep));
  NEPTUNE_RETURN_IF_ERROR(
      CheckNumber(where + ": control_port", node->control_port(), 0, kPortMax, keep));
  NEPTUNE_RETURN_IF_ERROR(
      CheckNumber(where + ": admin_port", node->admin_port(), 0, kPortMax, keep));
  NEPTUNE_RETURN_IF_ERROR(CheckNumber(where + ": serving_threads", node->serving_threads(), 1,
                                      kThreadsMax,
                                      [&](uint32_t n) { node->set_serving_threads(n); }));
  if (!node->serving_threads_work()) {
    NEPTUNE_RETURN_IF_ERROR(CheckNumber(where + ": worker_threads", node->worker_threads(), 1,
                                        kThreadsMax,
                                        [&](uint32_t n) { node->set_worker_threads(n); }));
  } else if (node->worker_threads() != 0) {
    return InvalidArgument(where, " has worker_threads and serving_threads_work");
  }
  NEPTUNE_RETURN_IF_ERROR(CheckBudgets(where, *node));
  NEPTUNE_RETURN_IF_ERROR(Annotate(CapsulesOfSpec(node->capsules(), "").status(), where));
  if (node->hosts().empty()) return InvalidArgument(where, " hosts nothing");
  std::set<std::string> services;
  for (HostedServiceSpec& hosted : *node->mutable_hosts()) {
    NEPTUNE_RETURN_IF_ERROR(CompleteHosted(spec, where, &hosted));
    if (!services.insert(hosted.service()).second) {
      return InvalidArgument(where, " hosts '", hosted.service(), "' in two entries");
    }
  }
  return OkStatus();
}

// The outermost field being checked, which determines the line of an error.
struct Place {
  std::string_view field;
  int index = 0;
};

Status CheckNodeTls(const ClusterSpec& spec) {
  if (!spec.has_node_tls()) return OkStatus();
  const NodeTls& tls = spec.node_tls();
  if (tls.certificate_file().empty() || tls.key_file().empty() || tls.authority_file().empty()) {
    return InvalidArgument("node_tls needs certificate_file, key_file and authority_file");
  }
  if (spec.cluster_key_file().empty()) {
    return InvalidArgument("node_tls protects calls only; announcements need cluster_key_file");
  }
  return OkStatus();
}

Status CheckFolder(const MembershipSpec& membership) {
  NEPTUNE_RETURN_IF_ERROR(
      Annotate(FolderOfDirectory(membership.directory()).status(), "membership"));
  if (!membership.etcd_user().empty() || membership.has_etcd_tls()) {
    return InvalidArgument("membership: etcd_user or etcd_tls with a directory of files");
  }
  if (membership.etcd_endpoints().empty()) return OkStatus();
  return InvalidArgument("membership: etcd_endpoints with a directory of files");
}

Status CheckEtcdCredentials(const MembershipSpec& membership) {
  const bool has_user = !membership.etcd_user().empty();
  if (has_user != !membership.etcd_password_file().empty()) {
    return InvalidArgument("membership: etcd_user and etcd_password_file are given together");
  }
  if (!membership.has_etcd_tls()) return OkStatus();
  const NodeTls& tls = membership.etcd_tls();
  if (!tls.certificate_file().empty() && !tls.key_file().empty() && !tls.authority_file().empty()) {
    return OkStatus();
  }
  return InvalidArgument(
      "membership: etcd_tls needs certificate_file, key_file and authority_file");
}

Status CheckDirectory(const MembershipSpec& membership) {
  NEPTUNE_RETURN_IF_ERROR(CheckEtcdCredentials(membership));
  if (membership.directory().starts_with("file:")) return CheckFolder(membership);
  if (membership.directory() != "etcd") {
    return InvalidArgument("membership: unknown directory '", membership.directory(),
                           "'; expected etcd or file:PATH");
  }
  const int count = membership.etcd_endpoints_size();
  if (count < 1 || count > static_cast<int>(kDirectoryEndpointCountMax)) {
    return InvalidArgument("membership: expected 1 to ", kDirectoryEndpointCountMax,
                           " etcd_endpoints, found ", count);
  }
  for (const std::string& text : membership.etcd_endpoints()) {
    NEPTUNE_ASSIGN_OR_RETURN(const Endpoint endpoint, Endpoint::Parse(text));
    if (endpoint.address == 0 || endpoint.port == 0) {
      return InvalidArgument("membership: etcd_endpoints '", text,
                             "' is not the address of a server");
    }
  }
  return OkStatus();
}

Status CompleteMembership(ClusterSpec* spec) {
  if (!spec->has_membership()) return OkStatus();
  MembershipSpec& membership = *spec->mutable_membership();
  NEPTUNE_RETURN_IF_ERROR(CheckNumber("membership: poll_interval_ms", membership.poll_interval_ms(),
                                      1000, 60000,
                                      [&](uint32_t n) { membership.set_poll_interval_ms(n); }));
  if (UsesDirectory(*spec)) return CheckDirectory(membership);
  if (membership.etcd_endpoints().empty()) return OkStatus();
  return InvalidArgument("membership: etcd_endpoints without directory: 'etcd'");
}

Status CheckMulticastGroup(const ClusterSpec& spec) {
  if (UsesDirectory(spec) && spec.multicast_group().empty()) return OkStatus();
  NEPTUNE_ASSIGN_OR_RETURN(const Endpoint group, Endpoint::Parse(spec.multicast_group()));
  if (group.address >> 28 != 14 || group.port == 0) {
    return InvalidArgument("multicast_group '", spec.multicast_group(),
                           "' is not 224.0.0.0 to 239.255.255.255 with a port");
  }
  return OkStatus();
}

Status CompleteAdminAccess(ClusterSpec* spec) {
  if (spec->admin_access().empty()) spec->set_admin_access("local");
  if (spec->admin_access() == "local" || spec->admin_access() == kAdminAccessNetwork) {
    return OkStatus();
  }
  return InvalidArgument("admin_access is '", spec->admin_access(),
                         "'; expected 'local' or 'network'");
}

Status CheckNetwork(ClusterSpec* spec, Place* place) {
  *place = {"name"};
  NEPTUNE_RETURN_IF_ERROR(CheckName("cluster", spec->name()));
  *place = {"membership"};
  NEPTUNE_RETURN_IF_ERROR(CompleteMembership(spec));
  *place = {"multicast_group"};
  NEPTUNE_RETURN_IF_ERROR(CheckMulticastGroup(*spec));
  *place = {"interface_address"};
  if (spec->interface_address().empty()) spec->set_interface_address("127.0.0.1");
  NEPTUNE_ASSIGN_OR_RETURN(const Endpoint own, Endpoint::Parse(spec->interface_address() + ":0"));
  if (own.address == 0) {
    return InvalidArgument("interface_address '", spec->interface_address(),
                           "' is announced to other nodes, so they must be able to reach it");
  }
  *place = {"balancing"};
  if (spec->balancing().empty()) spec->set_balancing("probe_pool");
  NEPTUNE_RETURN_IF_ERROR(ParseBalancingPolicy(spec->balancing()).status());
  *place = {"poll_size"};
  NEPTUNE_RETURN_IF_ERROR(CheckNumber("poll_size", spec->poll_size(), 3, kPollSizeMax,
                                      [&](uint32_t n) { spec->set_poll_size(n); }));
  *place = {"poll_discard_ms"};
  NEPTUNE_RETURN_IF_ERROR(CheckNumber("poll_discard_ms", spec->poll_discard_ms(), 10, 60000,
                                      [&](uint32_t n) { spec->set_poll_discard_ms(n); }));
  *place = {"capsules"};
  NEPTUNE_RETURN_IF_ERROR(CapsulesOfSpec(spec->capsules(), "", &place->index).status());
  *place = {"node_tls"};
  NEPTUNE_RETURN_IF_ERROR(CheckNodeTls(*spec));
  *place = {"admin_access"};
  NEPTUNE_RETURN_IF_ERROR(CompleteAdminAccess(spec));
  *place = {"announce_interval_ms"};
  return CheckNumber("announce_interval_ms", spec->announce_interval_ms(), 1000, 60000,
                     [&](uint32_t n) { spec->set_announce_interval_ms(n); });
}

Status CheckCallers(const ClusterSpec& spec, const ServiceSpec& service) {
  for (const std::string& caller : service.callers()) {
    if (FindService(spec, caller) != nullptr) continue;
    return InvalidArgument("callers: '", caller, "' is not a service of the cluster");
  }
  if (service.callers().empty() || spec.has_node_tls()) return OkStatus();
  return InvalidArgument("callers are known by their certificates; the spec has no node_tls");
}

Status CompleteParts(ClusterSpec* spec, Place* place) {
  NEPTUNE_RETURN_IF_ERROR(CheckNetwork(spec, place));
  *place = {"service_classes"};
  NEPTUNE_RETURN_IF_ERROR(CompleteServiceClasses(spec));
  *place = {"services"};
  if (spec->services().empty()) return InvalidArgument("the cluster has no services");
  *place = {"nodes"};
  if (spec->nodes().empty()) return InvalidArgument("the cluster has no nodes");
  if (spec->nodes_size() > kClusterNodeCountMax) {
    return InvalidArgument("the cluster has ", spec->nodes_size(), " nodes; at most ",
                           kClusterNodeCountMax);
  }
  std::set<std::string> names;
  for (int i = 0; i < spec->services_size(); ++i) {
    *place = {"services", i};
    ServiceSpec& service = *spec->mutable_services(i);
    NEPTUNE_RETURN_IF_ERROR(CompleteService(&service));
    NEPTUNE_RETURN_IF_ERROR(
        Annotate(CheckServiceScheduling(*spec, service), StrCat("service '", service.name(), "'")));
    if (!names.insert(service.name()).second) {
      return InvalidArgument("service '", service.name(), "' is defined twice");
    }
  }
  names.clear();
  for (int i = 0; i < spec->nodes_size(); ++i) {
    *place = {"nodes", i};
    NodeSpec& node = *spec->mutable_nodes(i);
    NEPTUNE_RETURN_IF_ERROR(CompleteNode(*spec, &node));
    if (!names.insert(node.name()).second) {
      return InvalidArgument("node '", node.name(), "' is defined twice");
    }
  }
  for (int i = 0; i < spec->services_size(); ++i) {
    *place = {"services", i};
    const ServiceSpec& service = spec->services(i);
    NEPTUNE_RETURN_IF_ERROR(Annotate(CheckReplication(*spec, service),
                                     StrCat("service '", service.name(), "': replication")));
    NEPTUNE_RETURN_IF_ERROR(
        Annotate(CheckCallers(*spec, service), StrCat("service '", service.name(), "'")));
  }
  return OkStatus();
}

}  // namespace

Status CompleteClusterSpec(ClusterSpec* spec) {
  Place place;
  return CompleteParts(spec, &place);
}

StatusOr<ClusterSpec> ParseClusterSpec(std::string_view text, std::string_view file) {
  ClusterSpec spec;
  TextLocations locations;
  NEPTUNE_RETURN_IF_ERROR(ParseTextConfig(text, file, &spec, &locations));
  Place place;
  const Status status = CompleteParts(&spec, &place);
  if (status.ok()) return spec;
  // A missing field has no line of its own; report line 1.
  const int line = std::max(1, locations.LineOf(place.field, place.index));
  return Annotate(status, StrCat(file, ":", line));
}

StatusOr<ClusterSpec> LoadClusterSpec(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kTextConfigSizeMax));
  NEPTUNE_ASSIGN_OR_RETURN(ClusterSpec spec, ParseClusterSpec(text, path));
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  std::set<std::string> files = {spec.capsule_file()};
  for (const NodeSpec& node : spec.nodes()) files.insert(node.capsule_file());
  files.erase("");
  for (const std::string& file : files) {
    NEPTUNE_RETURN_IF_ERROR(
        Annotate(LoadCapsuleFile((folder / file).string(), nullptr).status(), path));
  }
  return spec;
}

uint32_t WorkingThreadsOf(const NodeSpec& node) {
  return node.serving_threads_work() ? node.serving_threads() : node.worker_threads();
}

const NodeSpec* FindNode(const ClusterSpec& spec, const NodeId& node) {
  for (const NodeSpec& candidate : spec.nodes()) {
    if (candidate.name() == node.value()) return &candidate;
  }
  return nullptr;
}

const ServiceSpec* FindService(const ClusterSpec& spec, std::string_view service) {
  for (const ServiceSpec& candidate : spec.services()) {
    if (candidate.name() == service) return &candidate;
  }
  return nullptr;
}

bool UsesDirectory(const ClusterSpec& spec) { return !spec.membership().directory().empty(); }

TimeLimitOptions TimeLimitOf(const TimeLimitSpec& spec) {
  TimeLimitOptions limit;
  ThresholdOptions& options = limit.threshold;
  const auto set = [](uint32_t millis, Duration* value) {
    if (millis != 0) *value = std::chrono::milliseconds(millis);
  };
  set(spec.lower_bound_ms(), &options.lower_bound);
  set(spec.upper_bound_ms(), &options.upper_bound);
  set(spec.window_ms(), &options.window);
  if (spec.low_watermark() != 0) options.low_watermark = spec.low_watermark();
  if (spec.high_watermark() != 0) options.high_watermark = spec.high_watermark();
  if (spec.alpha() != 0) options.alpha = spec.alpha();
  if (!spec.ending_order().empty()) limit.order = *ParseEndingOrder(spec.ending_order());
  limit.wait_goal = options.lower_bound;
  if (spec.wait_goal_ms() != 0) limit.wait_goal = std::chrono::milliseconds(spec.wait_goal_ms());
  return limit;
}

std::map<std::string, std::string> EffectiveParameters(const ClusterSpec& spec,
                                                       const HostedServiceSpec& hosted) {
  std::map<std::string, std::string> parameters;
  for (const Parameter& parameter : hosted.parameters()) {
    parameters.emplace(parameter.key(), parameter.value());
  }
  for (const Parameter& parameter : FindService(spec, hosted.service())->parameters()) {
    parameters.emplace(parameter.key(), parameter.value());
  }
  return parameters;
}

void SetParameter(std::string_view key, std::string_view value,
                  google::protobuf::RepeatedPtrField<Parameter>* parameters) {
  for (Parameter& parameter : *parameters) {
    if (parameter.key() != key) continue;
    parameter.set_value(std::string(value));
    return;
  }
  Parameter* const added = parameters->Add();
  added->set_key(std::string(key));
  added->set_value(std::string(value));
}

}  // namespace neptune
