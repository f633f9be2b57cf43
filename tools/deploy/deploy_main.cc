// Writes the files that start a cluster on many hosts: systemd units, Kubernetes manifests or a
// list.

#include <gflags/gflags.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "neptune/base/file.h"
#include "neptune/base/text_config.h"
#include "neptune/node/cluster_spec.h"
#include "tools/deploy/deployment.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"

DEFINE_string(spec, "data/clusters/dev.textproto", "cluster spec, Protobuf text format");
DEFINE_string(hosts, "", "file with lines HOST ADDRESS NODE NODE...; not with kubernetes");
DEFINE_string(format, "systemd", "systemd, kubernetes or hosts");
DEFINE_string(out, "", "folder for the files, made if it is not there");
DEFINE_string(program, search::tools::DeploymentOptions().program,
              "path of the node program on the hosts");
DEFINE_string(module_dir, search::tools::DeploymentOptions().module_folders,
              "folders of modules on the hosts, separated by ':'");
DEFINE_string(
    config_dir, search::tools::DeploymentOptions().config_folder,
    "folder on the hosts that holds a folder of the cluster's name, with spec and secrets");
DEFINE_string(base_dir, search::tools::DeploymentOptions().index_folder, "folder of the index");
DEFINE_string(data_dir, search::tools::DeploymentOptions().state_folder,
              "folder for the data of replicated services");
DEFINE_string(user, search::tools::DeploymentOptions().user, "systemd: user of the nodes");
DEFINE_string(allow_addresses, "",
              "systemd: addresses and networks that nodes may exchange packets with besides the "
              "cluster's hosts and its directory, separated by commas");
DEFINE_string(image, "", "kubernetes: image of the nodes, REPOSITORY@sha256:DIGITS");
DEFINE_string(memory, search::tools::DeploymentOptions().memory, "kubernetes: memory of each node");
DEFINE_string(storage, search::tools::DeploymentOptions().storage,
              "kubernetes: volume size of each node, for the data of replicated services");
DEFINE_string(index_claim, "",
              "kubernetes: claim of a volume with the index; default: it is in the image");
DEFINE_uint32(grace_ms, 5000, "time for a node to finish its requests when it stops");

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;

constexpr char kUsage[] =
    "writes the files that start a cluster on many hosts, from its spec\n\n"
    "  deploy --spec=FILE --hosts=HOSTS --format=systemd --out=DIR   units for each host\n"
    "  deploy --spec=FILE --format=kubernetes --out=DIR              manifests\n"
    "  deploy --spec=FILE --hosts=HOSTS --format=hosts --out=DIR     the host of each node";

DeploymentOptions OptionsOfFlags() {
  DeploymentOptions options;
  options.program = FLAGS_program;
  options.module_folders = FLAGS_module_dir;
  options.config_folder = FLAGS_config_dir;
  options.index_folder = FLAGS_base_dir;
  options.state_folder = FLAGS_data_dir;
  options.user = FLAGS_user;
  options.allowed_addresses = SplitList(FLAGS_allow_addresses);
  options.image = FLAGS_image;
  options.memory = FLAGS_memory;
  options.storage = FLAGS_storage;
  options.index_claim = FLAGS_index_claim;
  options.grace_ms = FLAGS_grace_ms;
  return options;
}

StatusOr<std::vector<DeploymentFile>> MakeFiles(const std::string& spec_path) {
  NEPTUNE_ASSIGN_OR_RETURN(const neptune::ClusterSpec spec, neptune::LoadClusterSpec(spec_path));
  if (FLAGS_format == "kubernetes") {
    if (!FLAGS_hosts.empty()) return InvalidArgument("--hosts: Kubernetes chooses the hosts");
    auto files = KubernetesManifests(spec, OptionsOfFlags());
    return files.ok() ? files : neptune::Annotate(files.status(), spec_path);
  }
  if (FLAGS_format != "systemd" && FLAGS_format != "hosts") {
    return InvalidArgument("--format is systemd, kubernetes or hosts, not '", FLAGS_format, "'");
  }
  if (FLAGS_hosts.empty()) return InvalidArgument("--hosts is needed for ", FLAGS_format);
  const std::string hosts_path = CallerPath(FLAGS_hosts);
  NEPTUNE_ASSIGN_OR_RETURN(const std::string hosts,
                           neptune::ReadFile(hosts_path, kHostFileSizeMax));
  NEPTUNE_ASSIGN_OR_RETURN(const Placement placement, ParsePlacement(hosts, hosts_path, spec));
  if (FLAGS_format == "hosts") return HostList(spec, placement);
  NEPTUNE_ASSIGN_OR_RETURN(const std::string text,
                           neptune::ReadFile(spec_path, neptune::kTextConfigSizeMax));
  return SystemdUnits(spec, text, placement, OptionsOfFlags());
}

Status Run(const std::vector<std::string>& rest) {
  if (!rest.empty()) return InvalidArgument("unexpected argument '", rest[0], "'; see --help");
  if (FLAGS_out.empty()) return InvalidArgument("--out is needed");
  NEPTUNE_ASSIGN_OR_RETURN(const auto files, MakeFiles(ProjectPath(FLAGS_spec)));
  const std::filesystem::path folder = CallerPath(FLAGS_out);
  for (const DeploymentFile& file : files) {
    const std::filesystem::path path = folder / file.path;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error)
      return neptune::Unavailable("making ", path.parent_path().string(), ": ", error.message());
    NEPTUNE_RETURN_IF_ERROR(
        neptune::WriteFileAtomically(path.string(), file.text, neptune::FileReaders::kOwner));
    std::printf("%s\n", path.c_str());
  }
  return neptune::OkStatus();
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  const auto rest = search::tools::ParseCommandLine(&argc, &argv, search::tools::kUsage, __FILE__);
  return search::tools::ExitStatus(search::tools::Run(rest), "deploy");
}
