#include "neptune/node/node_security.h"

#include <algorithm>
#include <filesystem>

#include "neptune/membership/announcement.h"
#include "neptune/security/datagram_seal.h"
#include "neptune/security/tls_context.h"

namespace neptune {

namespace {

// A client of the administration port may connect and ask some seconds later.
constexpr Duration kAdminHandshakeTimeout = std::chrono::seconds(10);
constexpr size_t kAdminHandshakeCountMax = 64;

}  // namespace

std::string NodePath(const std::string& path, const NodeId& node, const std::string& folder) {
  constexpr std::string_view kNode = "{node}";
  std::string named = path;
  for (size_t at = named.find(kNode); at != std::string::npos; at = named.find(kNode, at)) {
    named.replace(at, kNode.size(), node.value());
    at += node.value().size();
  }
  return (std::filesystem::path(folder) / named).string();
}

namespace {

// Other nodes would refuse what the node sends them, see caller_policy.h.
Status CheckOwnName(const ClusterSpec& spec, const NodeId& node, const std::string& certified) {
  const bool asks_for_names =
      std::any_of(spec.services().begin(), spec.services().end(), [](const ServiceSpec& service) {
        return service.has_replication() || !service.callers().empty();
      });
  if (!asks_for_names || certified == node.value()) return OkStatus();
  return FailedPrecondition("the certificate of node ", node, " is for '", certified,
                            "'; callers and replication of the spec need one for its own name");
}

}  // namespace

Status NodeSecurity::Load(World& world, const ClusterSpec& spec, const NodeId& node,
                          const std::string& folder, MetricsRegistry& metrics) {
  NEPTUNE_RETURN_IF_ERROR(refusals_.AddMetrics(metrics));
  if (!spec.cluster_key_file().empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(ClusterKeys keys,
                             LoadClusterKeys(NodePath(spec.cluster_key_file(), node, folder)));
    keys_ = std::make_shared<const ClusterKeys>(std::move(keys));
  }
  if (!spec.has_node_tls()) return OkStatus();
  const NodeTls& tls = spec.node_tls();
  NEPTUNE_ASSIGN_OR_RETURN(tls_, TlsContext::Load(TlsUse::kNodes,
                                                  {NodePath(tls.certificate_file(), node, folder),
                                                   NodePath(tls.key_file(), node, folder),
                                                   NodePath(tls.authority_file(), node, folder)},
                                                  [&world] { return world.wall_time(); }));
  NEPTUNE_RETURN_IF_ERROR(CheckOwnName(spec, node, tls_->OwnName()));
  tls_->KeepFresh(world);
  NEPTUNE_ASSIGN_OR_RETURN(admin_tls_,
                           TlsContext::Load(TlsUse::kWebServer,
                                            {NodePath(tls.certificate_file(), node, folder),
                                             NodePath(tls.key_file(), node, folder), ""},
                                            [&world] { return world.wall_time(); }));
  admin_tls_->KeepFresh(world);
  NEPTUNE_ASSIGN_OR_RETURN(
      certificate_gauge_,
      metrics.AddCallbackGauge("neptune_certificate_left_seconds",
                               "Time until the node's certificate expires; negative after it.", {},
                               [tls = tls_] { return tls->SecondsLeft(); }));
  return OkStatus();
}

std::unique_ptr<Network> NodeSecurity::MakeNetwork(Loop& loop, size_t handshake_count_max) {
  if (keys_ == nullptr && tls_ == nullptr) return nullptr;
  SecureNetworkOptions options;
  options.keys = keys_;
  options.tls = tls_;
  options.refusals = &refusals_;
  options.handshake_count_max = std::min(options.handshake_count_max, handshake_count_max);
  return std::make_unique<SecureNetwork>(loop, options);
}

std::vector<std::string> NodeSecurity::DeriveSecrets(std::string_view purpose) const {
  if (keys_ == nullptr) return {};
  return neptune::DeriveSecrets(*keys_, purpose);
}

std::unique_ptr<Network> NodeSecurity::MakeAdminNetwork(Loop& loop) {
  if (admin_tls_ == nullptr) return nullptr;
  SecureNetworkOptions options;
  options.tls = admin_tls_;
  options.takes_plain = true;
  options.handshake_timeout = kAdminHandshakeTimeout;
  options.handshake_count_max = kAdminHandshakeCountMax;
  options.refusals = &refusals_;
  return std::make_unique<SecureNetwork>(loop, options);
}

size_t NodeSecurity::announcement_size_max() const {
  return keys_ == nullptr ? kAnnouncementSizeMax : kAnnouncementSizeMax - kSealSizeMax;
}

void NodeSecurity::Show(StatusReport* report) const {
  report->AddFact("cluster keys", keys_ == nullptr ? 0 : keys_->keys().size());
  report->AddFact("certificate", tls_ == nullptr ? std::string("none") : tls_->Describe());
  refusals_.Show(report);
}

}  // namespace neptune
