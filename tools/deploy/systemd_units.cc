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

Status CheckOptions(const DeploymentOptions& options) {
  NEPTUNE_RETURN_IF_ERROR(CheckPath("program", options.program));
  NEPTUNE_RETURN_IF_ERROR(CheckPath("module folders", options.module_folders, ":"));
  NEPTUNE_RETURN_IF_ERROR(CheckPath("config folder", options.config_folder));
  NEPTUNE_RETURN_IF_ERROR(CheckPath("index folder", options.index_folder));
  NEPTUNE_RETURN_IF_ERROR(CheckPath("state folder", options.state_folder));
  if (IsDnsLabel(options.user, 31)) return neptune::OkStatus();
  return InvalidArgument("user '", options.user, "' is not a user name");
}

std::string StopTimeout(const DeploymentOptions& options) {
  return StrCat((options.grace_ms + 999) / 1000 + kKillMarginSeconds);
}

// The unit's user may write the node's own state and a shared folder of announcements, and nothing
// else.
constexpr char kHardening[] =
    "NoNewPrivileges=yes\n"
    "ProtectSystem=strict\n"
    "ProtectHome=yes\n"
    "PrivateTmp=yes\n"
    "PrivateDevices=yes\n"
    "ProtectClock=yes\n"
    "ProtectHostname=yes\n"
    "ProtectKernelLogs=yes\n"
    "ProtectKernelModules=yes\n"
    "ProtectKernelTunables=yes\n"
    "ProtectControlGroups=yes\n"
    "RestrictAddressFamilies=AF_INET AF_UNIX AF_NETLINK\n"
    "RestrictNamespaces=yes\n"
    "RestrictRealtime=yes\n"
    "RestrictSUIDSGID=yes\n"
    "LockPersonality=yes\n"
    "SystemCallArchitectures=native\n"
    "CapabilityBoundingSet=\n"
    "UMask=0077\n";

// " -FOLDER" of a directory of files, which every node writes to; empty if the cluster has none.
std::string SharedFolder(const neptune::ClusterSpec& spec) {
  const auto folder = neptune::FolderOfDirectory(spec.membership().directory());
  return folder.ok() ? " -" + *folder : "";
}

std::string Unit(const neptune::ClusterSpec& spec, const std::string& node, const HostPlace& host,
                 const DeploymentOptions& options) {
  const std::string state = StrCat(options.state_folder, "/", spec.name());
  std::string text = StrCat(
      "[Unit]\nDescription=Node ", node, " of cluster ", spec.name(),
      "\nWants=network-online.target\nAfter=network-online.target\nStartLimitIntervalSec=0\n");
  StrAppend(&text, "\n[Service]\nType=exec\nUser=", options.user, "\nExecStart=", options.program,
            " --spec=", options.config_folder, "/", spec.name(), "/cluster.textproto --node=", node,
            " --address=", host.address, " --module_dir=", options.module_folders,
            " --base_dir=", options.index_folder, " --data_dir=", state,
            " --grace_ms=", options.grace_ms, "\n");
  // Status 2 means a wrong spec, which a restart cannot fix.
  StrAppend(&text, "Restart=always\nRestartSec=1\nRestartPreventExitStatus=2\n",
            "KillMode=mixed\nKillSignal=SIGTERM\nTimeoutStopSec=", StopTimeout(options),
            "\nLimitNOFILE=65536\nReadWritePaths=-", state, SharedFolder(spec), "\n", kHardening,
            "\n[Install]\nWantedBy=multi-user.target\n");
  return text;
}

}  // namespace

StatusOr<std::vector<DeploymentFile>> SystemdUnits(const neptune::ClusterSpec& spec,
                                                   const std::string& spec_text,
                                                   const Placement& placement,
                                                   const DeploymentOptions& options) {
  NEPTUNE_RETURN_IF_ERROR(CheckOptions(options));
  std::vector<DeploymentFile> files;
  for (const HostPlace& host : placement.hosts) {
    files.push_back({host.name + "/cluster.textproto", spec_text});
    for (const std::string& node : host.nodes) {
      // Names in a spec contain only characters that unit names may contain, and are short enough.
      const std::string name = StrCat("neptune-", spec.name(), "-", node, ".service");
      files.push_back({host.name + "/" + name, Unit(spec, node, host, options)});
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
