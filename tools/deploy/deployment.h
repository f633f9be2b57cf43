// What starts a cluster on many hosts, as files: systemd units, or Kubernetes manifests, from the
// cluster's spec.
//
//   systemd      HOST/neptune-CLUSTER-NODE.service, a unit a node, and HOST/cluster.textproto
//   kubernetes   cluster.yaml: ConfigMap, a StatefulSet of one pod for each node, Services,
//                PodDisruptionBudget
//   hosts        hosts.txt: node, host, address, fixed ports
//
// Values in, files as text out.
// Threads: pure functions.
// Errors: kInvalidArgument a name that is none for an object of Kubernetes, a path with other bytes
//   than letters, digits and "/._-", or a spec that such a cluster cannot have.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.h"
#include "tools/deploy/placement.h"

namespace search::tools {

struct DeploymentOptions {
  // Paths on each host, or in the image: the node program, folders of modules separated by ':', the
  // spec and the files beside it, the index, and the data of replicated services.
  std::string program = "/opt/neptune/bin/neptuned";
  std::string module_folders = "/opt/neptune/lib";
  std::string config_folder = "/etc/neptune";
  std::string index_folder = "/var/lib/neptune/index";
  std::string state_folder = "/var/lib/neptune/state";
  // Time to finish requests in flight when a node stops; it is killed kKillMargin later.
  uint32_t grace_ms = 5000;
  // User of the units.
  std::string user = "neptune";
  // Kubernetes only.
  std::string image = "neptune:latest";
  std::string memory = "1Gi";    // asked for by each node
  std::string storage = "10Gi";  // of a node that keeps replicas
  std::string index_claim;       // a claim of a volume with the index; empty: it is in the image
};

inline constexpr uint32_t kKillMarginSeconds = 10;

struct DeploymentFile {
  std::string path;  // below the folder of the deployment
  std::string text;
};

// `spec_text` is the file that `spec` was read from; units name it unchanged.
neptune::StatusOr<std::vector<DeploymentFile>> SystemdUnits(const neptune::ClusterSpec& spec,
                                                            const std::string& spec_text,
                                                            const Placement& placement,
                                                            const DeploymentOptions& options);

// The ConfigMap's spec is `spec` with fixed ports for probes, and secrets where pods have them.
neptune::StatusOr<std::vector<DeploymentFile>> KubernetesManifests(
    const neptune::ClusterSpec& spec, const DeploymentOptions& options);

std::vector<DeploymentFile> HostList(const neptune::ClusterSpec& spec, const Placement& placement);

}  // namespace search::tools
