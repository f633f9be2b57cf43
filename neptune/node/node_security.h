// The credentials of a node: its cluster's key and its certificate. Nodes prove themselves with
// them and demand them of each other.
//
// Threads: Load is called once, on the control loop and before the other functions; these are
//   thread-safe.
// Errors: Load: those of LoadClusterKeys and TlsContext::Load; a node without its key does not
//   start.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/metrics.h"
#include "neptune/base/status_section.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/security/refusal_log.h"
#include "neptune/security/secure_network.h"
#include "neptune/world/world.h"

namespace neptune {

class NodeSecurity {
 public:
  // Reads the files that the spec names for the node, relative to `folder`; adds the node's
  // metrics.
  Status Load(World& world, const ClusterSpec& spec, const NodeId& node, const std::string& folder,
              MetricsRegistry& metrics);

  // Returns the loop's secured network to other nodes; null if the spec demands no credentials.
  // `handshake_count_max`: see SecureNetworkOptions.
  std::unique_ptr<Network> MakeNetwork(Loop& loop, size_t handshake_count_max);
  // Returns a network whose listeners take TLS with the node's certificate, and plain bytes from
  // those who do not begin with TLS; null if the node has no certificate.
  std::unique_ptr<Network> MakeAdminNetwork(Loop& loop);
  // Keys that seal announcements not sent as datagrams; null: announcements are not sealed.
  const std::shared_ptr<const ClusterKeys>& keys() const { return keys_; }
  // Maximum size of an announcement that fits a datagram.
  size_t announcement_size_max() const;
  // See ModuleContext; empty without a cluster key.
  std::vector<std::string> DeriveSecrets(std::string_view purpose) const;
  const RefusalLog& refusals() const { return refusals_; }
  // Records that a call was refused because of its caller.
  void NoteCaller(const Status& refusal) {
    refusals_.Note(Refusal::kCaller, {}, ToStd(refusal.message()));
  }
  void Show(StatusReport* report) const;

 private:
  RefusalLog refusals_;
  std::shared_ptr<const ClusterKeys> keys_;
  std::shared_ptr<TlsContext> tls_;
  std::shared_ptr<TlsContext> admin_tls_;  // the same certificate, for clients without one
  CallbackGauge certificate_gauge_;
};

// Resolves a path of the spec: replaces "{node}" by the node's name; relative paths start at
// `folder`.
std::string NodePath(const std::string& path, const NodeId& node, const std::string& folder);

}  // namespace neptune
