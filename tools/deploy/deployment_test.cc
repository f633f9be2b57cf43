// What is written starts what the spec says: read by another's YAML reader, and by systemd's own
// check.

#include "tools/deploy/deployment.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "tools/deploy/yaml_text.h"

namespace search::tools {
namespace {

using neptune::StrCat;

constexpr char kSpec[] =
    "name: 'shop'\n"
    "membership { directory: 'etcd' etcd_endpoints: '10.0.9.1:2379' }\n"
    "cluster_key_file: 'key'\n"
    "services { name: 'web' module: 'web' }\n"
    "services { name: 'store' module: 'store' partition_count: 2 }\n"
    "nodes { name: 'web-1' hosts { service: 'web' parameters { key: 'http_port' value: '8080' } } "
    "}\n"
    "nodes { name: 'store-1' worker_threads: 3 hosts { service: 'store' partitions: 0 } }\n"
    "nodes { name: 'store-2' call_port: 7700 hosts { service: 'store' partitions: 1 } }\n";

neptune::ClusterSpec Spec(const std::string& text = kSpec) {
  auto spec = neptune::ParseClusterSpec(text, "spec");
  EXPECT_TRUE(spec.ok()) << spec.status();
  return *std::move(spec);
}

Placement Hosts() {
  return *ParsePlacement("alpha 10.0.0.1 web-1 store-1\nbeta 10.0.0.2 store-2\n", "f", Spec());
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// The lines KEY=VALUE of a unit.
std::map<std::string, std::string> Settings(const std::string& unit) {
  std::map<std::string, std::string> settings;
  std::istringstream lines(unit);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find('=');
    if (equals != std::string::npos) settings[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return settings;
}

// The value of --NAME in a command.
std::string Flag(const std::vector<std::string>& command, const std::string& name) {
  for (const std::string& word : command) {
    if (word.starts_with("--" + name + "=")) return word.substr(name.size() + 3);
  }
  return "";
}

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

TEST(SystemdUnitsTest, StartWhatTheSpecSaysWhereTheHostFileSays) {
  const auto files = SystemdUnits(Spec(), kSpec, Hosts(), {});
  ASSERT_TRUE(files.ok()) << files.status();
  std::map<std::string, std::string> address_of;
  std::set<std::string> with_spec;
  for (const DeploymentFile& file : *files) {
    const std::string host = file.path.substr(0, file.path.find('/'));
    if (file.path.ends_with("/cluster.textproto")) {
      EXPECT_EQ(file.text, kSpec);
      with_spec.insert(host);
      continue;
    }
    const auto settings = Settings(file.text);
    const auto command = Words(settings.at("ExecStart"));
    const std::string node = Flag(command, "node");
    EXPECT_EQ(file.path, StrCat(host, "/neptune-shop-", node, ".service"));
    EXPECT_EQ(Flag(command, "spec"), "/etc/neptune/shop/cluster.textproto");
    EXPECT_EQ(settings.at("KillSignal"), "SIGTERM");
    // It is killed only after it had its time to drain.
    EXPECT_GT(1000 * std::stoi(settings.at("TimeoutStopSec")),
              std::stoi(Flag(command, "grace_ms")));
    EXPECT_EQ(settings.at("Restart"), "always");
    EXPECT_EQ(settings.at("NoNewPrivileges"), "yes");
    EXPECT_EQ(settings.at("MemoryMax"), host == "alpha" ? "45%" : "90%");
    EXPECT_TRUE(address_of.emplace(node, StrCat(host, " ", Flag(command, "address"))).second);
  }
  EXPECT_EQ(address_of, (std::map<std::string, std::string>{{"web-1", "alpha 10.0.0.1"},
                                                            {"store-1", "alpha 10.0.0.1"},
                                                            {"store-2", "beta 10.0.0.2"}}));
  EXPECT_EQ(with_spec, (std::set<std::string>{"alpha", "beta"}));
}

TEST(SystemdUnitsTest, MayWriteTheFolderOfAnnouncements) {
  const std::string text = Replaced(kSpec, "directory: 'etcd' etcd_endpoints: '10.0.9.1:2379'",
                                    "directory: 'file:/srv/all'");
  const auto files = SystemdUnits(Spec(text), text, Hosts(), {});
  ASSERT_TRUE(files.ok()) << files.status();
  for (const DeploymentFile& file : *files) {
    if (!file.path.ends_with(".service")) continue;
    EXPECT_TRUE(Settings(file.text).at("ReadWritePaths").ends_with("/shop -/srv/all")) << file.text;
  }
}

TEST(SystemdUnitsTest, SystemdFindsNothingWrong) {
  if (!std::filesystem::exists("/usr/bin/systemd-analyze")) {
    GTEST_SKIP() << "SKIPPED: no systemd-analyze";
  }
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "units";
  DeploymentOptions options;
  options.program = "/bin/true";  // has to be there
  const auto files = SystemdUnits(Spec(), kSpec, Hosts(), options);
  ASSERT_TRUE(files.ok()) << files.status();
  const auto verify = [&](const std::string& unit) {
    const std::string output = (folder / "output").string();
    const int status = std::system(
        StrCat("/usr/bin/systemd-analyze verify --man=no ", unit, " >", output, " 2>&1").c_str());
    return std::pair(WEXITSTATUS(status), *neptune::ReadFile(output, 1 << 20));
  };
  for (const DeploymentFile& file : *files) {
    if (!file.path.ends_with(".service")) continue;
    const std::filesystem::path path = folder / file.path;
    std::filesystem::create_directories(path.parent_path());
    ASSERT_TRUE(neptune::WriteFileAtomically(path.string(), file.text).ok());
    const auto [status, output] = verify(path.string());
    EXPECT_EQ(status, 0) << output;
    EXPECT_EQ(output.find(path.filename().string()), std::string::npos) << output;
    // It would fail here.
    const std::string bad = Replaced(file.text, "Restart=always", "Restart=sometimes");
    ASSERT_TRUE(neptune::WriteFileAtomically(path.string(), bad).ok());
    EXPECT_NE(verify(path.string()).second.find("sometimes"), std::string::npos);
  }
}

TEST(SystemdUnitsTest, SystemdFindsLittleExposed) {
  if (!std::filesystem::exists("/usr/bin/systemd-analyze")) {
    GTEST_SKIP() << "SKIPPED: no systemd-analyze";
  }
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "exposed";
  std::filesystem::create_directories(folder);
  const auto exceeds = [&](const std::string& unit, const std::string& text) {
    const std::string path = (folder / unit).string();
    EXPECT_TRUE(neptune::WriteFileAtomically(path, text).ok());
    // The threshold is ten times the level: 2.0.
    const int status =
        std::system(StrCat("/usr/bin/systemd-analyze security --offline=yes ",
                           "--no-pager --threshold=20 ", path, " >", path, ".report 2>&1")
                        .c_str());
    return WEXITSTATUS(status) != 0;
  };
  DeploymentOptions options;
  options.program = "/bin/true";
  // The node that faces clients has no list of addresses.
  const std::string text = Replaced(kSpec, "{ key: 'http_port' value: '8080' }",
                                    "{ key: 'http_port' value: '8080' } "
                                    "parameters { key: 'http_address' value: '0.0.0.0' }");
  const auto files = SystemdUnits(Spec(text), text, Hosts(), options);
  ASSERT_TRUE(files.ok()) << files.status();
  size_t unit_count = 0;
  for (const DeploymentFile& file : *files) {
    if (!file.path.ends_with(".service")) continue;
    const std::string unit = StrCat("unit-", unit_count++, ".service");
    EXPECT_FALSE(exceeds(unit, file.text))
        << *neptune::ReadFile((folder / (unit + ".report")).string(), 1 << 20);
    EXPECT_TRUE(exceeds("bare-" + unit, Replaced(file.text, "PrivateUsers=yes\n", "") +
                                            "\n[Service]\nSystemCallFilter=\n"
                                            "CapabilityBoundingSet=CAP_SYS_ADMIN\n"))
        << "the control";
  }
  EXPECT_EQ(unit_count, 3u);
}

TEST(SystemdUnitsTest, NodesThatOnlyNodesReachHaveAListOfAddresses) {
  const std::string text = Replaced(kSpec, "{ key: 'http_port' value: '8080' }",
                                    "{ key: 'http_port' value: '8080' } "
                                    "parameters { key: 'http_address' value: '0.0.0.0' }");
  DeploymentOptions options;
  options.allowed_addresses = {"10.7.0.0/16"};
  const auto files = SystemdUnits(Spec(text), text, Hosts(), options);
  ASSERT_TRUE(files.ok()) << files.status();
  for (const DeploymentFile& file : *files) {
    if (!file.path.ends_with(".service")) continue;
    const auto settings = Settings(file.text);
    EXPECT_EQ(settings.contains("IPAddressDeny"), !file.path.ends_with("-web-1.service"));
    if (!settings.contains("IPAddressDeny")) continue;
    EXPECT_EQ(settings.at("IPAddressDeny"), "any");
    EXPECT_EQ(settings.at("IPAddressAllow"), "localhost 10.0.0.1 10.0.0.2 10.0.9.1 10.7.0.0/16");
  }
  options.allowed_addresses = {"any\nUser=root"};
  EXPECT_FALSE(SystemdUnits(Spec(text), text, Hosts(), options).ok());
}

TEST(SystemdUnitsTest, RefusesWhatNodesWouldRefuse) {
  const auto error = [](const std::string& to) {
    const std::string text = Replaced(kSpec, "cluster_key_file: 'key'\n", to);
    const auto files = SystemdUnits(Spec(text), text, Hosts(), {});
    return files.ok() ? "" : std::string(neptune::ToStd(files.status().message()));
  };
  EXPECT_NE(error("").find("host alpha at 10.0.0.1"), std::string::npos);
  EXPECT_EQ(error("trust_network: true\n"), "");
  DeploymentOptions options;
  options.user = "root";
  EXPECT_FALSE(SystemdUnits(Spec(), kSpec, Hosts(), options).ok());
}

TEST(SystemdUnitsTest, RefusesPathsAndNamesThatSystemdWouldReadOtherwise) {
  for (const char* path : {"neptuned", "", "/a b", "/a%n", "/a\"", "/a$b", "/a\nUser=root"}) {
    DeploymentOptions options;
    options.program = path;
    EXPECT_FALSE(SystemdUnits(Spec(), kSpec, Hosts(), options).ok()) << path;
  }
  DeploymentOptions options;
  options.user = "root\n";
  EXPECT_FALSE(SystemdUnits(Spec(), kSpec, Hosts(), options).ok());
}

TEST(HostListTest, HasANodeALine) {
  const auto files = HostList(Spec(), Hosts());
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].text,
            "# node host address ports\n"
            "web-1 alpha 10.0.0.1 http_port=8080\n"
            "store-1 alpha 10.0.0.1\n"
            "store-2 beta 10.0.0.2 call_port=7700\n");
}

void ExpectSame(const YAML::Node& yaml, const nlohmann::ordered_json& json) {
  if (json.is_object()) {
    ASSERT_TRUE(yaml.IsMap());
    ASSERT_EQ(yaml.size(), json.size());
    for (const auto& [key, value] : json.items()) ExpectSame(yaml[key], value);
  } else if (json.is_array()) {
    ASSERT_TRUE(yaml.IsSequence());
    ASSERT_EQ(yaml.size(), json.size());
    for (size_t i = 0; i < json.size(); ++i) ExpectSame(yaml[i], json[i]);
  } else {
    ASSERT_TRUE(yaml.IsScalar());
    EXPECT_EQ(yaml.Scalar(), json.is_string() ? json.get<std::string>() : json.dump());
    // Text is quoted, so that none is taken for a number.
    EXPECT_EQ(yaml.Tag() == "!", json.is_string());
  }
}

TEST(YamlTextTest, AnotherReadsTheSame) {
  const auto json = nlohmann::ordered_json::parse(
      R"({"a":{"b":[1,[2,"3"],{"c":true,"d":[]}],"e: f":"yes"},
          "g":"two\nlines \"quoted\" \\ # : - %","h":{},"i":"","j":[[["deep"]]]})");
  const auto documents = YAML::LoadAll(YamlText({json, json}));
  ASSERT_EQ(documents.size(), 2u);
  for (const YAML::Node& document : documents) ExpectSame(document, json);
}

std::string Image() { return "registry.test/neptune@sha256:" + std::string(64, 'a'); }

class KubernetesTest : public testing::Test {
 protected:
  KubernetesTest() {
    DeploymentOptions options;
    options.index_claim = "shop-index";
    options.image = Image();
    const auto files = KubernetesManifests(Spec(), options);
    EXPECT_TRUE(files.ok()) << files.status();
    documents_ = YAML::LoadAll(files->at(0).text);
  }
  std::vector<YAML::Node> OfKind(const std::string& kind) {
    std::vector<YAML::Node> found;
    for (const YAML::Node& document : documents_) {
      if (document["kind"].Scalar() == kind) found.push_back(document);
    }
    return found;
  }
  static std::map<std::string, std::string> Map(const YAML::Node& node) {
    return node.as<std::map<std::string, std::string>>();
  }
  static bool Selects(const YAML::Node& selector, const YAML::Node& labels) {
    const auto all = Map(labels);
    for (const auto& [key, value] : Map(selector)) {
      if (!all.contains(key) || all.at(key) != value) return false;
    }
    return true;
  }
  static std::set<std::string> Names(const YAML::Node& list) {
    std::set<std::string> names;
    for (const YAML::Node& entry : list) EXPECT_TRUE(names.insert(entry["name"].Scalar()).second);
    return names;
  }

  std::vector<YAML::Node> documents_;
};

TEST_F(KubernetesTest, ObjectsHaveWhatKubernetesRequires) {
  const std::map<std::string, std::string> versions = {{"ConfigMap", "v1"},
                                                       {"Service", "v1"},
                                                       {"StatefulSet", "apps/v1"},
                                                       {"PodDisruptionBudget", "policy/v1"},
                                                       {"NetworkPolicy", "networking.k8s.io/v1"}};
  std::set<std::string> names;
  for (const YAML::Node& document : documents_) {
    const std::string kind = document["kind"].Scalar();
    EXPECT_EQ(document["apiVersion"].Scalar(), versions.at(kind));
    const std::string name = document["metadata"]["name"].Scalar();
    EXPECT_TRUE(IsDnsLabel(name)) << name;
    EXPECT_TRUE(names.insert(kind + name).second) << name;
  }
  EXPECT_EQ(OfKind("StatefulSet").size(), 3u);
}

TEST_F(KubernetesTest, SetsAreWhole) {
  const YAML::Node config = OfKind("ConfigMap").at(0);
  std::set<std::string> services;
  for (const YAML::Node& service : OfKind("Service")) {
    services.insert(service["metadata"]["name"].Scalar());
  }
  for (const YAML::Node& set : OfKind("StatefulSet")) {
    const YAML::Node spec = set["spec"];
    const YAML::Node pod = spec["template"]["spec"];
    EXPECT_TRUE(services.contains(spec["serviceName"].Scalar()));
    EXPECT_TRUE(Selects(spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"]));
    auto volumes = Names(pod["volumes"]);
    volumes.insert(spec["volumeClaimTemplates"][0]["metadata"]["name"].as<std::string>());
    for (const char* kind : {"containers", "initContainers"}) {
      ASSERT_EQ(pod[kind].size(), 1u) << kind;
      const YAML::Node container = pod[kind][0];
      EXPECT_TRUE(container["image"].IsScalar() && container["command"].size() > 0);
      for (const std::string& mount : Names(container["volumeMounts"])) {
        EXPECT_TRUE(volumes.contains(mount)) << mount;
      }
    }
    const YAML::Node container = pod["containers"][0];
    const auto ports = Names(container["ports"]);
    for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
      EXPECT_TRUE(ports.contains(container[probe]["httpGet"]["port"].Scalar())) << probe;
    }
    EXPECT_EQ(container["livenessProbe"]["httpGet"]["path"].Scalar(), "/healthz");
    EXPECT_EQ(container["readinessProbe"]["httpGet"]["path"].Scalar(), "/readyz");
    EXPECT_TRUE(container["resources"]["requests"]["cpu"].IsScalar());
    EXPECT_TRUE(container["resources"]["requests"]["memory"].IsScalar());
    for (const char* kind : {"containers", "initContainers"}) {
      const YAML::Node limits = pod[kind][0]["resources"]["limits"];
      EXPECT_TRUE(limits["memory"].IsScalar() && limits["ephemeral-storage"].IsScalar()) << kind;
    }
    EXPECT_EQ(pod["volumes"][0]["configMap"]["name"].Scalar(), config["metadata"]["name"].Scalar());
    const auto command = container["command"].as<std::vector<std::string>>();
    EXPECT_GT(1000 * pod["terminationGracePeriodSeconds"].as<int>(),
              std::stoi(Flag(command, "grace_ms")));
  }
}

TEST_F(KubernetesTest, PodsStartWhatTheSpecSays) {
  const auto text = OfKind("ConfigMap").at(0)["data"]["cluster.textproto"].Scalar();
  neptune::ClusterSpec pods = Spec(text);
  EXPECT_EQ(pods.cluster_key_file(), "/run/neptune/secrets/cluster_key");
  std::set<std::string> nodes;
  for (const YAML::Node& set : OfKind("StatefulSet")) {
    const YAML::Node container = set["spec"]["template"]["spec"]["containers"][0];
    const auto command = container["command"].as<std::vector<std::string>>();
    const std::string name = Flag(command, "node");
    const neptune::NodeSpec* const node = neptune::FindNode(pods, neptune::NodeId(name));
    ASSERT_NE(node, nullptr) << name;
    EXPECT_TRUE(nodes.insert(name).second);
    EXPECT_EQ(container["resources"]["requests"]["cpu"].as<uint32_t>(),
              node->serving_threads() + node->worker_threads());
    for (const auto& [what, port] : FixedPorts(pods, *node)) {
      bool found = false;
      for (const YAML::Node& entry : container["ports"]) {
        found |= entry["containerPort"].as<uint32_t>() == port;
      }
      EXPECT_TRUE(found) << name << " " << what;
    }
  }
  EXPECT_EQ(nodes, (std::set<std::string>{"web-1", "store-1", "store-2"}));
  // But for ports, the secret's place and where HTTP is served, it is the spec.
  neptune::ClusterSpec spec = Spec();
  EXPECT_EQ(pods.nodes(2).call_port(), 7700u);
  for (int i = 0; i < pods.nodes_size(); ++i) {
    pods.mutable_nodes(i)->set_call_port(spec.nodes(i).call_port());
    pods.mutable_nodes(i)->set_admin_port(spec.nodes(i).admin_port());
  }
  pods.set_cluster_key_file(spec.cluster_key_file());
  neptune::SetParameter("http_address", "0.0.0.0",
                        spec.mutable_nodes(0)->mutable_hosts(0)->mutable_parameters());
  EXPECT_EQ(pods.SerializeAsString(), spec.SerializeAsString());
}

TEST_F(KubernetesTest, TokensOfFrontendsAreSecrets) {
  std::string text = kSpec;
  const std::string port = "parameters { key: 'http_port' value: '8080' } ";
  text.insert(text.find(port), "parameters { key: 'document_token_file' value: 'var/token' } ");
  DeploymentOptions options;
  options.image = Image();
  const auto files = KubernetesManifests(Spec(text), options);
  ASSERT_TRUE(files.ok()) << files.status();
  std::string manifests;
  for (const YAML::Node& document : YAML::LoadAll(files->at(0).text)) {
    if (document["kind"].Scalar() == "ConfigMap") {
      const auto pods = Spec(document["data"]["cluster.textproto"].Scalar());
      EXPECT_EQ(EffectiveParameters(pods, pods.nodes(0).hosts(0)).at("document_token_file"),
                "/run/neptune/secrets/document_token");
    }
    if (document["kind"].Scalar() == "StatefulSet") manifests += YAML::Dump(document);
  }
  EXPECT_NE(manifests.find("/run/neptune/mounted/document_token"), std::string::npos);
  EXPECT_EQ(manifests.find("operator_token"), std::string::npos);
}

TEST_F(KubernetesTest, ServicesAndBudgetSelectTheirPods) {
  size_t of_nodes = 0;
  size_t of_http = 0;
  const YAML::Node budget = OfKind("PodDisruptionBudget").at(0)["spec"];
  EXPECT_EQ(budget["maxUnavailable"].as<int>(), 1);
  for (const YAML::Node& set : OfKind("StatefulSet")) {
    const YAML::Node labels = set["spec"]["template"]["metadata"]["labels"];
    EXPECT_TRUE(Selects(budget["selector"]["matchLabels"], labels));
    for (const YAML::Node& service : OfKind("Service")) {
      if (!Selects(service["spec"]["selector"], labels)) continue;
      ++(service["metadata"]["name"].Scalar() == "shop-http" ? of_http : of_nodes);
    }
  }
  EXPECT_EQ(of_nodes, 3u);
  EXPECT_EQ(of_http, 1u);
}

TEST(KubernetesManifestsTest, RefusesWhatPodsCannotHave) {
  const auto error = [](const std::string& from, const std::string& to) {
    DeploymentOptions options;
    options.image = Image();
    const auto files = KubernetesManifests(Spec(Replaced(kSpec, from, to)), options);
    return files.ok() ? "" : std::string(neptune::ToStd(files.status().message()));
  };
  EXPECT_NE(error("membership { directory: 'etcd' etcd_endpoints: '10.0.9.1:2379' }",
                  "multicast_group: '239.192.7.3:7400'")
                .find("multicast"),
            std::string::npos);
  EXPECT_NE(error("directory: 'etcd' etcd_endpoints: '10.0.9.1:2379'", "directory: 'file:/srv/all'")
                .find("shared folder"),
            std::string::npos);
  EXPECT_NE(error("'web-1'", "'web_1'").find("node 'web_1'"), std::string::npos);
  EXPECT_NE(error("'web-1'", "'Web-1'").find("DNS label"), std::string::npos);
  EXPECT_NE(error("'web-1'", "'" + std::string(50, 'w') + "'").find("DNS label"),
            std::string::npos);
  EXPECT_NE(error("'shop'", "'my.shop'").find("cluster 'my.shop'"), std::string::npos);
  EXPECT_NE(error("cluster_key_file: 'key'",
                  "cluster_key_file: 'key' node_tls { certificate_file: 'a' key_file: 'b' "
                  "authority_file: 'c' }")
                .find("node_tls"),
            std::string::npos);
  EXPECT_NE(error("cluster_key_file: 'key'", "cluster_key_file: 'key' capsule_file: 'x'")
                .find("capsule_file"),
            std::string::npos);
  for (const std::string& image :
       {std::string("x\n"), std::string("neptune:latest"), std::string(), Image() + "a",
        "@sha256:" + std::string(64, 'a'), Replaced(Image(), "aaa", "AAA")}) {
    DeploymentOptions options;
    options.image = image;
    EXPECT_FALSE(KubernetesManifests(Spec(), options).ok()) << image;
  }
}

TEST(KubernetesManifestsTest, NoSecretIsInAConfigMap) {
  DeploymentOptions options;
  options.image = Image();
  const auto error = [&](const std::string& text) {
    const auto files = KubernetesManifests(Spec(text), options);
    return files.ok() ? "" : std::string(neptune::ToStd(files.status().message()));
  };
  const std::string classes = "service_classes { name: 'gold' api_keys: 'a-key-in-clear' }\n";
  EXPECT_NE(error(kSpec + classes).find("api_key_sha256"), std::string::npos);
  EXPECT_NE(error(Replaced(kSpec, "cluster_key_file: 'key'\n", "")).find("cluster_key_file"),
            std::string::npos);
  const std::string with_password =
      Replaced(kSpec, "directory: 'etcd'",
               "directory: 'etcd' etcd_user: 'nodes' etcd_password_file: 'password'");
  const auto files = KubernetesManifests(Spec(with_password), options);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_NE(files->at(0).text.find("/run/neptune/secrets/etcd_password"), std::string::npos);
  EXPECT_NE(files->at(0).text.find("/run/neptune/mounted/etcd_password"), std::string::npos);
}

TEST_F(KubernetesTest, PoliciesAdmitTheClusterAndTheClientsOfItsHttpPort) {
  std::map<std::string, YAML::Node> policies;
  for (const YAML::Node& policy : OfKind("NetworkPolicy")) {
    policies[policy["metadata"]["name"].Scalar()] = policy["spec"];
    EXPECT_EQ(policy["spec"]["policyTypes"][0].Scalar(), "Ingress");
    EXPECT_EQ(policy["spec"]["ingress"].size(), 1u) << "no rule admits everyone";
  }
  ASSERT_EQ(policies.size(), 2u);
  for (const YAML::Node& set : OfKind("StatefulSet")) {
    const YAML::Node labels = set["spec"]["template"]["metadata"]["labels"];
    const YAML::Node nodes = policies.at("shop-nodes");
    EXPECT_TRUE(Selects(nodes["podSelector"]["matchLabels"], labels));
    EXPECT_TRUE(Selects(nodes["ingress"][0]["from"][0]["podSelector"]["matchLabels"], labels));
    EXPECT_EQ(Selects(policies.at("shop-http")["podSelector"]["matchLabels"], labels),
              set["metadata"]["name"].Scalar() == "shop-web-1");
  }
  const YAML::Node ports = policies.at("shop-http")["ingress"][0]["ports"];
  ASSERT_EQ(ports.size(), 1u);
  EXPECT_EQ(ports[0]["port"].Scalar(), "http");
}

}  // namespace
}  // namespace search::tools
