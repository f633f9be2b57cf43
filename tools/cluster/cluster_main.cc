// Starts and supervises a cluster on this machine, and talks to a running one.

#include <gflags/gflags.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/node/cluster_spec.h"
#include "tools/cluster/cluster_secrets.h"
#include "tools/cluster/control.h"
#include "tools/cluster/state_directory.h"
#include "tools/cluster/supervisor.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"

DEFINE_string(spec, "data/clusters/dev.textproto", "cluster spec, Protobuf text format");
DEFINE_string(data, "data/var/index", "folder that paths in the spec start from: the built index");
DEFINE_string(state, "", "folder of pids, logs and lock; default: data/var/clusters/NAME");
DEFINE_bool(status, false, "show the nodes of the running cluster");
DEFINE_bool(stop, false, "stop the running cluster");
DEFINE_string(kill, "", "kill this node's process at once; it is started again");
DEFINE_string(pause, "", "suspend this node's process");
DEFINE_string(resume, "", "let a suspended node go on");

namespace search::tools {
namespace {

using neptune::Status;
using neptune::StatusOr;

constexpr char kUsage[] =
    "runs a cluster on this machine\n\n"
    "  cluster [--spec=FILE] [--data=DIR]   start it, start again what dies, stop on Ctrl-C\n"
    "  cluster --status                     show the nodes of the running cluster\n"
    "  cluster --kill=NODE                  kill a node; the supervisor starts it again\n"
    "  cluster --pause=NODE, --resume=NODE  suspend a node's process, let it go on\n"
    "  cluster --stop                       stop the running cluster";

constexpr int kStopTimeoutMs = 30'000;

// Programs and modules stand in this program's runfiles, or beside it in the build tree.
StatusOr<std::string> FindBuilt(const std::string& path) {
  std::error_code ignored;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  const std::filesystem::path folder = std::filesystem::path(self).parent_path();
  for (const std::filesystem::path& root :
       {std::filesystem::path(self + ".runfiles/neptune_search"), std::filesystem::current_path(),
        folder.parent_path().parent_path()}) {
    if (std::filesystem::exists(root / path, ignored)) return (root / path).string();
  }
  return neptune::NotFound(path, " is not built; build it with: bazel build //",
                           std::filesystem::path(path).parent_path().string(), "/...");
}

StatusOr<std::string> ModuleFolders() {
  std::string folders;
  for (const char* module : {"frontend/frontend.so", "index/tier/service/index_tier.so",
                             "docserver/service/document_server.so", "cache/service/query_cache.so",
                             "cache/persistent/persistent_cache_server.so"}) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string path, FindBuilt(module));
    folders += (folders.empty() ? "" : ":") + std::filesystem::path(path).parent_path().string();
  }
  return folders;
}

std::string HttpAddresses(const neptune::ClusterSpec& spec) {
  std::string text;
  for (const auto& node : spec.nodes()) {
    for (const auto& hosted : node.hosts()) {
      const auto parameters = neptune::EffectiveParameters(spec, hosted);
      const auto port = parameters.find("http_port");
      if (port == parameters.end()) continue;
      neptune::StrAppend(&text, "  http://", spec.interface_address(), ":", port->second, "/  (",
                         node.name(), ")\n");
    }
  }
  return text;
}

Status RunCluster(const neptune::ClusterSpec& spec, const std::string& spec_path,
                  StateDirectory& state) {
  const std::string data = ProjectPath(FLAGS_data);
  if (!std::filesystem::exists(data)) {
    return neptune::NotFound("no index in ", data, "; build one first (./tools/up does)");
  }
  NEPTUNE_RETURN_IF_ERROR(state.Lock());
  NEPTUNE_RETURN_IF_ERROR(MakeClusterSecrets(spec, spec_path));
  SupervisorOptions options;
  NEPTUNE_ASSIGN_OR_RETURN(options.program, FindBuilt("neptune/node/neptuned"));
  NEPTUNE_ASSIGN_OR_RETURN(const std::string folders, ModuleFolders());
  options.arguments = {"--spec=" + spec_path, "--base_dir=" + data, "--module_dir=" + folders,
                       "--data_dir=" + state.DataDirectory()};
  std::vector<std::string> nodes;
  for (const auto& node : spec.nodes()) nodes.push_back(node.name());
  Supervisor supervisor(nodes, state, options);
  NEPTUNE_RETURN_IF_ERROR(supervisor.Start());
  std::printf("cluster %s runs with %zu nodes\n%sCtrl-C stops it\n", spec.name().c_str(),
              nodes.size(), HttpAddresses(spec).c_str());
  std::fflush(stdout);
  supervisor.Run();
  std::fprintf(stderr, "stopping\n");
  supervisor.Stop();
  return neptune::OkStatus();
}

Status StopCluster(const StateDirectory& state) {
  NEPTUNE_ASSIGN_OR_RETURN(const pid_t supervisor, state.Supervisor());
  const int process = static_cast<int>(syscall(SYS_pidfd_open, supervisor, 0));
  if (process < 0 || kill(supervisor, SIGTERM) != 0) {
    return neptune::NotFound("the supervisor does not run");
  }
  pollfd ended = {.fd = process, .events = POLLIN, .revents = 0};
  const int ready = poll(&ended, 1, kStopTimeoutMs);
  close(process);
  if (ready <= 0) return neptune::DeadlineExceeded("the cluster has not stopped yet");
  return neptune::OkStatus();
}

// The one thing to be done; "" starts the cluster. A node's name may not be empty: `--kill=$NODE`
// without the variable would start a cluster otherwise.
StatusOr<std::string> ChosenCommand(const std::vector<std::string>& rest) {
  if (!rest.empty()) {
    return neptune::InvalidArgument("what is '", rest[0], "'? Flags begin with --; try --help");
  }
  std::string chosen;
  for (const char* command : {"status", "stop", "kill", "pause", "resume"}) {
    const gflags::CommandLineFlagInfo flag = gflags::GetCommandLineFlagInfoOrDie(command);
    if (flag.is_default || flag.current_value == "false") continue;
    if (flag.current_value.empty()) {
      return neptune::InvalidArgument("--", command,
                                      " needs the name of a node; --status lists them");
    }
    if (!chosen.empty()) {
      return neptune::InvalidArgument("--", chosen, " and --", command, " are not done together");
    }
    chosen = command;
  }
  return chosen;
}

Status SignalAndTell(const neptune::ClusterSpec& spec, const StateDirectory& state,
                     const std::string& node, int signal, const char* done) {
  NEPTUNE_RETURN_IF_ERROR(SignalNode(spec, state, node, signal));
  std::printf("%s %s\n", node.c_str(), done);
  return neptune::OkStatus();
}

Status Run(const std::vector<std::string>& rest) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string command, ChosenCommand(rest));
  const std::string spec_path = ProjectPath(FLAGS_spec);
  NEPTUNE_ASSIGN_OR_RETURN(const neptune::ClusterSpec spec, neptune::LoadClusterSpec(spec_path));
  StateDirectory state(FLAGS_state.empty() ? ProjectOutputPath("data/var/clusters/" + spec.name())
                                           : CallerPath(FLAGS_state));
  if (command == "status") {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string text, DescribeCluster(spec, state));
    std::fputs(text.c_str(), stdout);
    return neptune::OkStatus();
  }
  if (command == "stop") return StopCluster(state);
  if (command == "kill") {
    return SignalAndTell(spec, state, FLAGS_kill, SIGKILL, "is killed and starts again");
  }
  if (command == "pause") return SignalAndTell(spec, state, FLAGS_pause, SIGSTOP, "is paused");
  if (command == "resume") return SignalAndTell(spec, state, FLAGS_resume, SIGCONT, "goes on");
  return RunCluster(spec, spec_path, state);
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  const auto rest = search::tools::ParseCommandLine(&argc, &argv, search::tools::kUsage, __FILE__);
  return search::tools::ExitStatus(search::tools::Run(rest), "cluster");
}
