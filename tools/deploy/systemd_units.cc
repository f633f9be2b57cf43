#include <algorithm>
#include <cctype>

#include "neptune/base/strings.h"
#include "neptune/membership/announcement_folder.h"
#include "tools/deploy/deployment.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrAppend;
using neptune::StrCat;

// Contains nothing that systemd would interpret as a blank, a quote, a variable or a specifier.
Status CheckPath(std::string_view what, std::string_view path, std::string_view more = "") {
  const auto fits = [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("/._-").find(c) != std::string_view::npos ||
           more.find(c) != std::string_view::npos;
  };
  if (path.starts_with('/') && std::all_of(path.begin(), path.end(), fits)) {
    return neptune::OkStatus();
  }
  return InvalidArgument(what, " '", path,
                         "' is not an absolute path of letters, digits, '/', '.', '_' and '-'");
}

// An IPv4 address or network, for example 10.1.0.0/16.
Status CheckAddress(std::string_view address) {
  const auto fits = [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) || c == '.' || c == '/';
  };
  if (!address.empty() && std::all_of(address.begin(), address.end(), fits)) {
    return neptune::OkStatus();
  }
  return InvalidArgument("address '", address, "' is not IPv4, such as 10.1.0.7 or 10.1.0.0/16");
}

Status CheckOptions(const DeploymentOptions& options) {
  NEPTUNE_RETURN_IF_ERROR(CheckPath("program", options.program));
  NEPTUNE_RETURN_IF_ERROR(CheckPath("module folders", options.module_folders, ":"));
  NEPTUNE_RETURN_IF_ERROR(CheckPath("config folder", options.config_folder));
  NEPTUNE_RETURN_IF_ERROR(CheckPath("index folder", options.index_folder));
  NEPTUNE_RETURN_IF_ERROR(CheckPath("state folder", options.state_folder));
  for (const std::string& address : options.allowed_addresses) {
    NEPTUNE_RETURN_IF_ERROR(CheckAddress(address));
  }
  if (options.user == "root") return InvalidArgument("nodes do not run as root");
  if (IsDnsLabel(options.user, 31)) return neptune::OkStatus();
  return InvalidArgument("user '", options.user, "' is not a user name");
}

// Nodes refuse to start otherwise (neptune/node/start_policy.h).
Status CheckTrust(const neptune::ClusterSpec& spec, const Placement& placement) {
  if (!spec.cluster_key_file().empty() || spec.trust_network()) return neptune::OkStatus();
  for (const HostPlace& host : placement.hosts) {
    if (host.address.starts_with("127.")) continue;
    return InvalidArgument("host ", host.name, " at ", host.address,
                           ": the spec needs cluster_key_file, or trust_network: true");
  }
  return neptune::OkStatus();
}

std::string StopTimeout(const DeploymentOptions& options) {
  return StrCat((options.grace_ms + 999) / 1000 + kKillMarginSeconds);
}

// The unit's user may write the node's own state and a shared folder of announcements, and nothing
// else. All of /proc is visible but other users' processes (ProtectProc), because nodes announce
// the load of their host from /proc/stat. @resources is allowed: loops set their own priorities.
constexpr char kHardening[] =
    "NoNewPrivileges=yes\n"
    "ProtectSystem=strict\n"
    "ProtectHome=yes\n"
    "PrivateTmp=yes\n"
    "PrivateDevices=yes\n"
    "PrivateMounts=yes\n"
    "PrivateUsers=yes\n"
    "DevicePolicy=closed\n"
    "ProtectClock=yes\n"
    "ProtectHostname=yes\n"
    "ProtectKernelLogs=yes\n"
    "ProtectKernelModules=yes\n"
    "ProtectKernelTunables=yes\n"
    "ProtectControlGroups=yes\n"
    "ProtectProc=invisible\n"
    "ProcSubset=all\n"
    "RestrictAddressFamilies=AF_INET AF_UNIX AF_NETLINK\n"
    "RestrictNamespaces=yes\n"
    "RestrictRealtime=yes\n"
    "RestrictSUIDSGID=yes\n"
    "LockPersonality=yes\n"
    "MemoryDenyWriteExecute=yes\n"
    "RemoveIPC=yes\n"
    "KeyringMode=private\n"
    "LimitCORE=0\n"
    "TasksMax=4096\n"
    "SystemCallArchitectures=native\n"
    "SystemCallFilter=@system-service\n"
    "SystemCallFilter=~@privileged @keyring @memlock\n"
    "SystemCallErrorNumber=EPERM\n"
    "CapabilityBoundingSet=\n"
    "AmbientCapabilities=\n"
    "UMask=0077\n";

// " -FOLDER" of a directory of files, which every node writes to; empty if the cluster has none.
std::string SharedFolder(const neptune::ClusterSpec& spec) {
  const auto folder = neptune::FolderOfDirectory(spec.membership().directory());
  return folder.ok() ? " -" + *folder : "";
}

// True if clients of other machines reach a port of the node's services.
bool FacesClients(const neptune::ClusterSpec& spec, const neptune::NodeSpec& node) {
  for (const auto& hosted : node.hosts()) {
    const auto parameters = neptune::EffectiveParameters(spec, hosted);
    const auto address = parameters.find("http_address");
    if (address != parameters.end() && !address->second.starts_with("127.")) return true;
  }
  return false;
}

// What a node that only other nodes reach may exchange packets with: the cluster's hosts, its
// multicast group or directory, and what the options add. Empty for other nodes.
std::string AddressRules(const neptune::ClusterSpec& spec, const neptune::NodeSpec& node,
                         const Placement& placement, const DeploymentOptions& options) {
  if (FacesClients(spec, node)) return "";
  const auto without_port = [](const std::string& endpoint) {
    return endpoint.substr(0, endpoint.find(':'));
  };
  std::string allowed = "localhost";
  for (const HostPlace& host : placement.hosts) StrAppend(&allowed, " ", host.address);
  if (!spec.multicast_group().empty()) {
    StrAppend(&allowed, " ", without_port(spec.multicast_group()));
  }
  for (const std::string& endpoint : spec.membership().etcd_endpoints()) {
    StrAppend(&allowed, " ", without_port(endpoint));
  }
  for (const std::string& address : options.allowed_addresses) StrAppend(&allowed, " ", address);
  return StrCat("IPAddressDeny=any\nIPAddressAllow=", allowed, "\n");
}

// A share of the machine's memory for each node on it, and a tenth for the rest.
std::string MemoryLimit(const HostPlace& host) {
  return StrCat("MemoryMax=", std::max<size_t>(1, 90 / host.nodes.size()), "%\n");
}

std::string Unit(const neptune::ClusterSpec& spec, const neptune::NodeSpec& node_spec,
                 const Placement& placement, const HostPlace& host,
                 const DeploymentOptions& options) {
  const std::string& node = node_spec.name();
  const std::string state = StrCat(options.state_folder, "/", spec.name());
  std::string text = StrCat(
      "[Unit]\nDescription=Node ", node, " of cluster ", spec.name(),
      "\nWants=network-online.target\nAfter=network-online.target\nStartLimitIntervalSec=0\n");
  StrAppend(&text, "\n[Service]\nType=exec\nUser=", options.user, "\nExecStart=", options.program,
            " --spec=", options.config_folder, "/", spec.name(), "/cluster.textproto --node=", node,
            " --address=", host.address, " --module_dir=", options.module_folders,
            " --base_dir=", options.index_folder, " --data_dir=", state,
            " --grace_ms=", options.grace_ms, " --private_memory\n");
  // Status 2 means a wrong spec, which a restart cannot fix.
  StrAppend(&text, "Restart=always\nRestartSec=1\nRestartPreventExitStatus=2\n",
            "KillMode=mixed\nKillSignal=SIGTERM\nTimeoutStopSec=", StopTimeout(options),
            "\nLimitNOFILE=65536\nReadWritePaths=-", state, SharedFolder(spec), "\n",
            MemoryLimit(host), AddressRules(spec, node_spec, placement, options), kHardening,
            "\n[Install]\nWantedBy=multi-user.target\n");
  return text;
}

}  // namespace

StatusOr<std::vector<DeploymentFile>> SystemdUnits(const neptune::ClusterSpec& spec,
                                                   const std::string& spec_text,
                                                   const Placement& placement,
                                                   const DeploymentOptions& options) {
  NEPTUNE_RETURN_IF_ERROR(CheckOptions(options));
  NEPTUNE_RETURN_IF_ERROR(CheckTrust(spec, placement));
  std::vector<DeploymentFile> files;
  for (const HostPlace& host : placement.hosts) {
    files.push_back({host.name + "/cluster.textproto", spec_text});
    for (const std::string& node : host.nodes) {
      // Names in a spec contain only characters that unit names may contain, and are short enough.
      const std::string name = StrCat("neptune-", spec.name(), "-", node, ".service");
      files.push_back(
          {host.name + "/" + name,
           Unit(spec, *neptune::FindNode(spec, neptune::NodeId(node)), placement, host, options)});
    }
  }
  return files;
}

std::vector<DeploymentFile> HostList(const neptune::ClusterSpec& spec, const Placement& placement) {
  std::string text = "# node host address ports\n";
  const auto host_of = placement.HostOfNodes();
  for (const auto& node : spec.nodes()) {
    const HostPlace& host = *host_of.at(node.name());
    StrAppend(&text, node.name(), " ", host.name, " ", host.address);
    for (const auto& [what, port] : FixedPorts(spec, node)) StrAppend(&text, " ", what, "=", port);
    text += '\n';
  }
  return {{"hosts.txt", text}};
}

}  // namespace search::tools
