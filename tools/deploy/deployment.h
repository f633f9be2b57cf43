// Generates the files that start a cluster on many hosts from its spec: systemd units, or
// Kubernetes manifests.
//
//   systemd      HOST/neptune-CLUSTER-NODE.service, a unit a node, and HOST/cluster.textproto
//   kubernetes   cluster.yaml: ConfigMap, a StatefulSet of one pod for each node, Services,
//                PodDisruptionBudget, NetworkPolicies
//   hosts        hosts.txt: node, host, address, fixed ports
//
// Threads: pure functions.
// No secret is in what is generated: specs with API keys in clear are refused.
// Errors: kInvalidArgument a name that is not valid in Kubernetes, a path with bytes other than
//   letters, digits and "/._-", or a spec that the format does not support.

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
  // User that runs the units.
  std::string user = "neptune";
  // systemd: addresses and networks that nodes may exchange packets with, besides the cluster's
  // hosts and its directory.
  std::vector<std::string> allowed_addresses{};
  // Kubernetes only. The image is named by its digest, REPOSITORY@sha256:DIGITS: a tag may be moved
  // to another image.
  std::string image{};
  std::string memory = "1Gi";    // request of each node
  std::string storage = "10Gi";  // of a node with replicas
  std::string index_claim;       // volume claim with the index; empty: the index is in the image
};

inline constexpr uint32_t kKillMarginSeconds = 10;

struct DeploymentFile {
  std::string path;  // relative to the output folder
  std::string text;
};

// `spec_text` is the file that `spec` was parsed from; it is written out unchanged.
neptune::StatusOr<std::vector<DeploymentFile>> SystemdUnits(const neptune::ClusterSpec& spec,
                                                            const std::string& spec_text,
                                                            const Placement& placement,
                                                            const DeploymentOptions& options);

// The ConfigMap's spec is `spec` with fixed ports for probes, and the paths of secrets in pods.
neptune::StatusOr<std::vector<DeploymentFile>> KubernetesManifests(
    const neptune::ClusterSpec& spec, const DeploymentOptions& options);

std::vector<DeploymentFile> HostList(const neptune::ClusterSpec& spec, const Placement& placement);

}  // namespace search::tools
