// What a node proves itself to others with, and demands of them: its cluster's key and its certificate.
//
// Threads: Load once, before the others; then thread-safe.
// Errors: Load: those of LoadClusterKeys and TlsContext::Load, so that a node without its key does not start.

#pragma once

#include <memory>
#include <string>

#include "neptune/base/metrics.h"
#include "neptune/base/status_section.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/security/refusal_log.h"
#include "neptune/security/secure_network.h"
#include "neptune/world/world.h"

namespace neptune {

class NodeSecurity {
 public:
  // Reads the files that the spec, which stands in `folder`, names for the node; adds the node's metrics.
  Status Load(World& world, const ClusterSpec& spec, const NodeId& node, const std::string& folder,
              MetricsRegistry& metrics);

  // The loop's network to other nodes; null if the spec demands nothing of them.
  std::unique_ptr<Network> MakeNetwork(Loop& loop);
  // What announcements are sealed with where no datagram carries them; null: they are as they are.
  const std::shared_ptr<const ClusterKeys>& keys() const { return keys_; }
  // Largest announcement that still fits a datagram.
  size_t announcement_size_max() const;
  const RefusalLog& refusals() const { return refusals_; }
  void Show(StatusReport* report) const;

 private:
  RefusalLog refusals_;
  std::shared_ptr<const ClusterKeys> keys_;
  std::shared_ptr<TlsContext> tls_;
  CallbackGauge certificate_gauge_;
};

// A path of the spec as the node reads it: "{node}" is its name, relative ones start in `folder`.
std::string NodePath(const std::string& path, const NodeId& node, const std::string& folder);

}  // namespace neptune
