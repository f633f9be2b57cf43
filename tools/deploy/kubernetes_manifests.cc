#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/deploy/deployment.h"
#include "tools/deploy/yaml_text.h"

namespace search::tools {
namespace {

using Json = nlohmann::ordered_json;
using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

// Limit for a StatefulSet's name: Kubernetes adds a hash to it in a label.
constexpr size_t kSetNameSizeMax = 52;
constexpr size_t kConfigMapSizeMax = 1'000'000;
constexpr uint32_t kCallPort = 7500;
constexpr uint32_t kAdminPort = 7501;
constexpr int kUserId = 65532;
constexpr char kSecretFolder[] = "/run/neptune/secrets";
// For what a container writes to its log; its root file system is read-only.
constexpr char kLogRoom[] = "256Mi";
constexpr char kMountedSecretFolder[] = "/run/neptune/mounted";

std::string SetName(const neptune::ClusterSpec& spec, const neptune::NodeSpec& node) {
  return StrCat(spec.name(), "-", node.name());
}

// What the ConfigMap would show, and what pods on a network shared with others need.
Status CheckSecrets(const neptune::ClusterSpec& spec) {
  for (const auto& one : spec.service_classes()) {
    if (one.api_keys().empty()) continue;
    return InvalidArgument("service class '", one.name(),
                           "': api_keys would be shown by a ConfigMap; use api_key_sha256");
  }
  if (spec.cluster_key_file().empty() && !spec.trust_network()) {
    return InvalidArgument(
        "pods share their network: the spec needs cluster_key_file, or trust_network: true");
  }
  if (spec.has_node_tls() || spec.membership().has_etcd_tls()) {
    return InvalidArgument(
        "node_tls and etcd_tls: certificates for pods are not generated; use cluster_key_file");
  }
  return neptune::OkStatus();
}

Status CheckSpec(const neptune::ClusterSpec& spec) {
  if (spec.membership().directory() != "etcd") {
    return InvalidArgument(
        "pods have no multicast and no shared folder: the spec needs membership { directory: "
        "'etcd' }");
  }
  NEPTUNE_RETURN_IF_ERROR(CheckSecrets(spec));
  if (!spec.capsule_file().empty()) {
    return InvalidArgument(
        "capsule_file: pods get the spec only; write the text of the file as capsules");
  }
  if (!IsDnsLabel(spec.name(), 40)) {
    return InvalidArgument("cluster '", spec.name(),
                           "' is not a DNS label of at most 40 characters");
  }
  for (const auto& node : spec.nodes()) {
    if (!IsDnsLabel(SetName(spec, node), kSetNameSizeMax)) {
      return InvalidArgument("node '", node.name(), "': ", SetName(spec, node),
                             " is not a DNS label of at most ", kSetNameSizeMax, " characters");
    }
    if (!node.capsule_file().empty()) {
      return InvalidArgument("node '", node.name(),
                             "': capsule_file: write the text of the file as capsules");
    }
  }
  return neptune::OkStatus();
}

Status CheckText(std::string_view what, std::string_view text) {
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("/._-:@").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), fits)) return neptune::OkStatus();
  return InvalidArgument(what, " '", text,
                         "' is empty or contains a character that names must not have");
}

// "NAME@sha256:" and 64 digits.
bool IsByDigest(std::string_view image) {
  constexpr std::string_view kDigest = "@sha256:";
  const size_t at = image.find(kDigest);
  if (at == std::string_view::npos || at == 0) return false;
  const std::string_view digits = image.substr(at + kDigest.size());
  return digits.size() == 64 && digits.find_first_not_of("0123456789abcdef") == digits.npos;
}

Status CheckOptions(const DeploymentOptions& options) {
  NEPTUNE_RETURN_IF_ERROR(CheckText("image", options.image));
  if (!IsByDigest(options.image)) {
    return InvalidArgument("image '", options.image,
                           "' is not REPOSITORY@sha256:DIGITS; a tag may be moved");
  }
  NEPTUNE_RETURN_IF_ERROR(CheckText("memory", options.memory));
  NEPTUNE_RETURN_IF_ERROR(CheckText("storage", options.storage));
  if (options.index_claim.empty() || IsDnsLabel(options.index_claim)) return neptune::OkStatus();
  return InvalidArgument("claim '", options.index_claim, "' is not a DNS label");
}

// Parameters of frontends that name a file with a token, and the token's name among the secrets.
constexpr std::pair<const char*, const char*> kTokens[] = {
    {"document_token_file", "document_token"}, {"operator_token_file", "operator_token"}};

// The tokens that services of the spec read.
std::set<std::string> TokensOf(const neptune::ClusterSpec& spec) {
  std::set<std::string> tokens;
  for (const auto& node : spec.nodes()) {
    for (const auto& hosted : node.hosts()) {
      const auto parameters = neptune::EffectiveParameters(spec, hosted);
      for (const auto& [parameter, token] : kTokens) {
        if (parameters.contains(parameter)) tokens.insert(token);
      }
    }
  }
  return tokens;
}

// Pods have addresses of their own, so that all may have the same ports.
neptune::ClusterSpec PodSpec(neptune::ClusterSpec spec) {
  for (auto& node : *spec.mutable_nodes()) {
    if (node.call_port() == 0) node.set_call_port(kCallPort);
    if (node.admin_port() == 0) node.set_admin_port(kAdminPort);
    for (auto& hosted : *node.mutable_hosts()) {
      const auto parameters = neptune::EffectiveParameters(spec, hosted);
      for (const auto& [parameter, token] : kTokens) {
        if (!parameters.contains(parameter)) continue;
        neptune::SetParameter(parameter, StrCat(kSecretFolder, "/", token),
                              hosted.mutable_parameters());
      }
      if (!parameters.contains("http_port") || parameters.contains("http_address")) continue;
      neptune::SetParameter("http_address", "0.0.0.0", hosted.mutable_parameters());
    }
  }
  const std::string folder = StrCat(kSecretFolder, "/");
  if (!spec.cluster_key_file().empty()) spec.set_cluster_key_file(folder + "cluster_key");
  if (!spec.admin_token_file().empty()) spec.set_admin_token_file(folder + "admin_token");
  if (!spec.membership().etcd_password_file().empty()) {
    spec.mutable_membership()->set_etcd_password_file(folder + "etcd_password");
  }
  return spec;
}

// Writes the manifests of one cluster.
class Manifests {
 public:
  Manifests(const neptune::ClusterSpec& spec, const DeploymentOptions& options)
      : spec_(spec), options_(options) {
    if (!spec.cluster_key_file().empty()) secrets_.push_back("cluster_key");
    if (!spec.admin_token_file().empty()) secrets_.push_back("admin_token");
    if (!spec.membership().etcd_password_file().empty()) secrets_.push_back("etcd_password");
    for (const std::string& token : TokensOf(spec)) secrets_.push_back(token);
  }

  Json ConfigMap(const std::string& text) const {
    Json map = Object("v1", "ConfigMap", Name("spec"));
    map["data"] = {{"cluster.textproto", text}};
    return map;
  }

  // For the names of the pods.
  Json NodesService() const {
    Json service = Object("v1", "Service", Name("nodes"));
    service["spec"] = {{"clusterIP", "None"},
                       {"publishNotReadyAddresses", true},
                       {"selector", ClusterLabels()},
                       {"ports", Json::array({Port("admin", kAdminPort)})}};
    return service;
  }

  Json HttpService() const {
    Json service = Object("v1", "Service", Name("http"));
    Json selector = ClusterLabels();
    selector["neptune/http"] = "true";
    service["spec"] = {{"selector", selector}, {"ports", Json::array({Port("http", 80)})}};
    return service;
  }

  Json DisruptionBudget() const {
    Json budget = Object("policy/v1", "PodDisruptionBudget", Name("nodes"));
    budget["spec"] = {{"maxUnavailable", 1}, {"selector", {{"matchLabels", ClusterLabels()}}}};
    return budget;
  }

  // Pods are reached by pods of the cluster only.
  Json NodesPolicy() const {
    Json policy = Object("networking.k8s.io/v1", "NetworkPolicy", Name("nodes"));
    policy["spec"] = {
        {"podSelector", {{"matchLabels", ClusterLabels()}}},
        {"policyTypes", Json::array({"Ingress"})},
        {"ingress",
         Json::array({Json{{"from", Json::array({Json{{"podSelector",
                                                       {{"matchLabels", ClusterLabels()}}}}})}}})}};
    return policy;
  }

  // The HTTP port is for everyone.
  Json HttpPolicy() const {
    Json policy = Object("networking.k8s.io/v1", "NetworkPolicy", Name("http"));
    Json selector = ClusterLabels();
    selector["neptune/http"] = "true";
    policy["spec"] = {
        {"podSelector", {{"matchLabels", selector}}},
        {"policyTypes", Json::array({"Ingress"})},
        {"ingress", Json::array({Json{
                        {"ports", Json::array({Json{{"port", "http"}, {"protocol", "TCP"}}})}}})}};
    return policy;
  }

  Json Set(const neptune::NodeSpec& node) const {
    Json set = Object("apps/v1", "StatefulSet", SetName(spec_, node));
    Json selector = ClusterLabels();
    selector["neptune/node"] = node.name();
    Json labels = selector;
    if (HasHttp(node)) labels["neptune/http"] = "true";
    set["spec"] = {{"serviceName", Name("nodes")},
                   {"replicas", 1},
                   {"podManagementPolicy", "Parallel"},
                   {"selector", {{"matchLabels", selector}}},
                   {"template", {{"metadata", {{"labels", labels}}}, {"spec", Pod(node)}}},
                   {"volumeClaimTemplates", Json::array({StateClaim()})}};
    return set;
  }

  bool AnyHttp() const {
    return std::any_of(spec_.nodes().begin(), spec_.nodes().end(),
                       [&](const auto& node) { return HasHttp(node); });
  }

 private:
  std::string Name(std::string_view part) const { return StrCat(spec_.name(), "-", part); }
  Json ClusterLabels() const { return {{"neptune/cluster", spec_.name()}}; }
  bool HasHttp(const neptune::NodeSpec& node) const {
    const auto ports = FixedPorts(spec_, node);
    return std::any_of(ports.begin(), ports.end(),
                       [](const auto& port) { return port.first == "http_port"; });
  }

  Json Object(const char* version, const char* kind, const std::string& name) const {
    return {{"apiVersion", version},
            {"kind", kind},
            {"metadata", {{"name", name}, {"labels", ClusterLabels()}}}};
  }

  static Json Port(const char* name, uint32_t port) {
    return {{"name", name}, {"port", port}, {"targetPort", name}};
  }

  Json StateClaim() const {
    return {{"metadata", {{"name", "state"}}},
            {"spec",
             {{"accessModes", Json::array({"ReadWriteOnce"})},
              {"resources", {{"requests", {{"storage", options_.storage}}}}}}}};
  }

  Json Pod(const neptune::NodeSpec& node) const {
    Json pod = {
        {"terminationGracePeriodSeconds", (options_.grace_ms + 999) / 1000 + kKillMarginSeconds},
        {"automountServiceAccountToken", false},
        {"securityContext",
         {{"runAsNonRoot", true},
          {"runAsUser", kUserId},
          {"runAsGroup", kUserId},
          {"fsGroup", kUserId},
          {"seccompProfile", {{"type", "RuntimeDefault"}}}}}};
    if (!secrets_.empty()) pod["initContainers"] = Json::array({SecretCopier()});
    pod["containers"] = Json::array({Container(node)});
    pod["volumes"] = Volumes();
    return pod;
  }

  // Mounted secrets are readable by their group; nodes accept only files that their user alone may
  // read.
  Json SecretCopier() const {
    Json command = Json::array({"install", "-m", "0400"});
    for (const std::string& name : secrets_) {
      command.push_back(StrCat(kMountedSecretFolder, "/", name));
    }
    command.push_back(StrCat(kSecretFolder, "/"));
    return {{"name", "secrets"},
            {"image", options_.image},
            {"command", command},
            {"resources",
             {{"limits", {{"cpu", "100m"}, {"memory", "32Mi"}, {"ephemeral-storage", kLogRoom}}}}},
            {"securityContext", ContainerSecurity()},
            {"volumeMounts", Json::array({Mount("mounted-secrets", kMountedSecretFolder, true),
                                          Mount("secrets", kSecretFolder, false)})}};
  }

  static Json ContainerSecurity() {
    return {{"allowPrivilegeEscalation", false},
            {"readOnlyRootFilesystem", true},
            {"capabilities", {{"drop", Json::array({"ALL"})}}}};
  }

  static Json Mount(const char* name, const std::string& path, bool read_only) {
    return {{"name", name}, {"mountPath", path}, {"readOnly", read_only}};
  }

  Json Container(const neptune::NodeSpec& node) const {
    const std::string config = StrCat(options_.config_folder, "/", spec_.name());
    Json ports = Json::array();
    for (const auto& [what, port] : FixedPorts(spec_, node)) {
      ports.push_back({{"name", what.substr(0, what.find('_'))}, {"containerPort", port}});
    }
    Json mounts =
        Json::array({Mount("spec", config, true), Mount("state", options_.state_folder, false)});
    if (!secrets_.empty()) mounts.push_back(Mount("secrets", kSecretFolder, true));
    if (!options_.index_claim.empty()) {
      mounts.push_back(Mount("index", options_.index_folder, true));
    }
    return {
        {"name", "node"},
        {"image", options_.image},
        {"command",
         Json::array({options_.program, StrCat("--spec=", config, "/cluster.textproto"),
                      "--node=" + node.name(), "--address=$(POD_IP)",
                      "--module_dir=" + options_.module_folders,
                      "--base_dir=" + options_.index_folder, "--data_dir=" + options_.state_folder,
                      StrCat("--grace_ms=", options_.grace_ms), "--private_memory"})},
        {"env",
         Json::array({Json{{"name", "POD_IP"},
                           {"valueFrom", {{"fieldRef", {{"fieldPath", "status.podIP"}}}}}}})},
        {"ports", ports},
        // A starting node may take long to load; a hung node is restarted; a draining node gets no
        // requests.
        {"startupProbe", Probe("/healthz", 2, 150)},
        {"livenessProbe", Probe("/healthz", 5, 6)},
        {"readinessProbe", Probe("/readyz", 2, 2)},
        {"resources",
         {{"requests",
           {{"cpu", StrCat(node.serving_threads() + node.worker_threads())},
            {"memory", options_.memory},
            {"ephemeral-storage", kLogRoom}}},
          {"limits", {{"memory", options_.memory}, {"ephemeral-storage", kLogRoom}}}}},
        {"securityContext", ContainerSecurity()},
        {"volumeMounts", mounts}};
  }

  static Json Probe(const char* path, int period_seconds, int failure_count) {
    return {{"httpGet", {{"path", path}, {"port", "admin"}}},
            {"periodSeconds", period_seconds},
            {"timeoutSeconds", 2},
            {"failureThreshold", failure_count}};
  }

  Json Volumes() const {
    Json volumes = Json::array();
    volumes.push_back({{"name", "spec"}, {"configMap", {{"name", Name("spec")}}}});
    if (!secrets_.empty()) {
      volumes.push_back({{"name", "mounted-secrets"},
                         {"secret", {{"secretName", Name("secrets")}, {"defaultMode", 0440}}}});
      volumes.push_back(
          {{"name", "secrets"}, {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", "1Mi"}}}});
    }
    if (!options_.index_claim.empty()) {
      volumes.push_back(
          {{"name", "index"},
           {"persistentVolumeClaim", {{"claimName", options_.index_claim}, {"readOnly", true}}}});
    }
    return volumes;
  }

  const neptune::ClusterSpec& spec_;
  const DeploymentOptions& options_;
  std::vector<std::string> secrets_;
};

}  // namespace

StatusOr<std::vector<DeploymentFile>> KubernetesManifests(const neptune::ClusterSpec& spec,
                                                          const DeploymentOptions& options) {
  NEPTUNE_RETURN_IF_ERROR(CheckSpec(spec));
  NEPTUNE_RETURN_IF_ERROR(CheckOptions(options));
  const neptune::ClusterSpec pods = PodSpec(spec);
  std::string text;
  if (!google::protobuf::TextFormat::PrintToString(pods, &text) ||
      text.size() > kConfigMapSizeMax) {
    return InvalidArgument("the spec is over ", kConfigMapSizeMax,
                           " bytes, too large for a ConfigMap");
  }
  const Manifests manifests(pods, options);
  std::vector<Json> documents = {manifests.ConfigMap(text), manifests.NodesService(),
                                 manifests.DisruptionBudget()};
  documents.push_back(manifests.NodesPolicy());
  if (manifests.AnyHttp()) {
    documents.push_back(manifests.HttpService());
    documents.push_back(manifests.HttpPolicy());
  }
  for (const auto& node : pods.nodes()) documents.push_back(manifests.Set(node));
  return std::vector<DeploymentFile>{{"cluster.yaml", YamlText(documents)}};
}

}  // namespace search::tools
