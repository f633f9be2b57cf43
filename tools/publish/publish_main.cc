// The program //tools:publish: publishes versions of the index to a cluster, under load, and rolls
// them back.

#include <gflags/gflags.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/node/cluster_spec.h"
#include "tools/cluster/node_operations.h"
#include "tools/cluster/state_directory.h"
#include "tools/publish/cluster_versions.h"
#include "tools/publish/publication.h"
#include "tools/publish/version_check.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"

DEFINE_string(spec, "data/clusters/dev.textproto", "cluster spec, Protobuf text format");
DEFINE_string(data, "data/var/index", "folder that relative paths in the spec start from");
DEFINE_string(state, "", "folder of the cluster's state; default: data/var/clusters/NAME");
DEFINE_string(index, "", "folder of the index that becomes the current version");
DEFINE_string(name, "", "with --index: its name; default: the folder's");
DEFINE_int32(keep, 3, "with --index: number of versions to keep; older ones are released");
DEFINE_bool(rollback, false, "make the previous version current");
DEFINE_bool(list, false, "show the versions");
DEFINE_string(remove, "", "release this version, which must not be the current one");
DEFINE_bool(delete_files, false, "with --remove: also delete its folder");
DEFINE_string(check, "", "only check whether the index in this folder can be published");
DEFINE_double(wait_s, 120, "longest time for the nodes to open a version");

namespace search::tools {
namespace {

using index::IndexVersion;
using index::VersionList;
using neptune::Status;
using neptune::StatusOr;

constexpr char kUsage[] =
    "publishes versions of the index to a running cluster, without a failed query\n\n"
    "  publish --index=DIR [--name=NAME]    check it, open it on every node, make it current\n"
    "  publish --rollback                   go back to the previous version\n"
    "  publish --list                       show the versions\n"
    "  publish --remove=NAME                release one that is not in use\n"
    "  publish --check=DIR                  only check";
constexpr char kBaseName[] = "base";

struct Context {
  neptune::ClusterSpec spec;  // as nodes parse it
  VersionedCluster cluster;
  std::string data;
};

StatusOr<Context> LoadContext(const StateDirectory& state) {
  Context context;
  DecidedSpec decided{.base = {}, .path = ProjectPath(FLAGS_spec), .changes = {}};
  NEPTUNE_ASSIGN_OR_RETURN(decided.base, neptune::LoadClusterSpec(decided.path));
  NEPTUNE_ASSIGN_OR_RETURN(decided.changes, LoadChanges(state));
  NEPTUNE_ASSIGN_OR_RETURN(context.spec, EffectiveSpec(decided));
  NEPTUNE_ASSIGN_OR_RETURN(context.cluster, VersionsOf(context.spec));
  context.data = ProjectPath(FLAGS_data);
  return context;
}

std::string NameOf(const std::string& folder) {
  return std::filesystem::path(folder + "/x").parent_path().lexically_normal().filename().string();
}

void Print(const VersionList& list) {
  for (const IndexVersion& version : list.versions) {
    const char* const use = version.name == list.current    ? "current"
                            : version.name == list.previous ? "previous"
                                                            : "";
    std::printf("%-20s %-9s %-17llu %s\n", version.name.c_str(), use,
                static_cast<unsigned long long>(version.index_version), version.folder.c_str());
  }
}

StatusOr<IndexManifest> CheckFolder(const Context& context, const std::string& folder) {
  NEPTUNE_ASSIGN_OR_RETURN(IndexManifest manifest, CheckVersionFolder(folder));
  NEPTUNE_RETURN_IF_ERROR(FitsCluster(manifest, context.spec));
  std::printf("%s is intact: version %llu of %llu documents in %zu files\n", folder.c_str(),
              static_cast<unsigned long long>(manifest.index_version),
              static_cast<unsigned long long>(manifest.document_count), manifest.files.size());
  std::fflush(stdout);
  return manifest;
}

Status RunPublish(const Context& context, VersionHost& host) {
  const std::string folder =
      std::filesystem::path(ProjectPath(FLAGS_index)).lexically_normal().string();
  NEPTUNE_ASSIGN_OR_RETURN(const IndexManifest manifest, CheckFolder(context, folder));
  PublishOrder order;
  order.version = {FLAGS_name.empty() ? NameOf(folder) : FLAGS_name, folder,
                   manifest.index_version};
  order.keep_count = static_cast<size_t>(std::max(2, FLAGS_keep));
  const auto base = ReadIndexManifest(context.data);
  if (base.ok()) order.base = {kBaseName, ".", base->index_version};
  NEPTUNE_ASSIGN_OR_RETURN(const VersionList list, Publish(order, host));
  std::printf("'%s' is the current version\n", list.current.c_str());
  return neptune::OkStatus();
}

Status RunRemove(const Context& context, VersionHost& host) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto before, host.Load());
  const IndexVersion* const found = before ? before->Find(FLAGS_remove) : nullptr;
  const std::string folder =
      found == nullptr ? "" : (std::filesystem::path(context.data) / found->folder).string();
  NEPTUNE_RETURN_IF_ERROR(Remove(FLAGS_remove, host).status());
  std::printf("'%s' is released\n", FLAGS_remove.c_str());
  if (!FLAGS_delete_files) return neptune::OkStatus();
  if (found->folder == ".") {
    return neptune::FailedPrecondition("its files are kept: ", folder,
                                       " also holds the list of versions");
  }
  // Never deletes anything but an index.
  NEPTUNE_RETURN_IF_ERROR(ReadIndexManifest(folder).status());
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (error) return neptune::Unavailable("deleting ", folder, ": ", error.message());
  return neptune::OkStatus();
}

// The command to execute; exactly one is given.
StatusOr<std::string> ChosenCommand(const std::vector<std::string>& rest) {
  if (!rest.empty()) {
    return neptune::InvalidArgument("unexpected argument '", rest[0],
                                    "'; flags begin with --, see --help");
  }
  std::string chosen;
  for (const char* command : {"index", "rollback", "list", "remove", "check"}) {
    const gflags::CommandLineFlagInfo flag = gflags::GetCommandLineFlagInfoOrDie(command);
    if (flag.is_default || flag.current_value.empty() || flag.current_value == "false") continue;
    if (!chosen.empty()) {
      return neptune::InvalidArgument("--", chosen, " and --", command, " cannot be combined");
    }
    chosen = command;
  }
  if (chosen.empty()) return neptune::InvalidArgument("no command was given; see --help");
  return chosen;
}

Status Run(const std::vector<std::string>& rest) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string command, ChosenCommand(rest));
  NEPTUNE_ASSIGN_OR_RETURN(const auto spec, neptune::LoadClusterSpec(ProjectPath(FLAGS_spec)));
  StateDirectory state(FLAGS_state.empty() ? ProjectOutputPath("data/var/clusters/" + spec.name())
                                           : CallerPath(FLAGS_state));
  NEPTUNE_ASSIGN_OR_RETURN(const Context context, LoadContext(state));
  ClusterVersionsOptions options;
  options.list_path = (std::filesystem::path(context.data) / context.cluster.list).string();
  options.wait = std::chrono::milliseconds(static_cast<int64_t>(1e3 * FLAGS_wait_s));
  ClusterVersions host(context.cluster, state, options);
  if (command == "check") return CheckFolder(context, ProjectPath(FLAGS_check)).status();
  if (command == "list") {
    NEPTUNE_ASSIGN_OR_RETURN(const auto list, host.Load());
    if (list) Print(*list);
    if (!list) std::printf("nothing has been published in %s yet\n", context.data.c_str());
    return neptune::OkStatus();
  }
  if (state.Supervisor().ok()) NEPTUNE_RETURN_IF_ERROR(state.LockChanges());
  if (command == "index") return RunPublish(context, host);
  if (command == "remove") return RunRemove(context, host);
  NEPTUNE_ASSIGN_OR_RETURN(const VersionList list, GoBack(host));
  std::printf("'%s' is the current version again\n", list.current.c_str());
  return neptune::OkStatus();
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  const auto rest = search::tools::ParseCommandLine(&argc, &argv, search::tools::kUsage, __FILE__);
  return search::tools::ExitStatus(search::tools::Run(rest), "publish");
}
