// Starts and supervises a cluster on this machine, and controls a running one.

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
#include "neptune/node/node_program.h"
#include "tools/build_index/index_manifest.h"
#include "tools/cluster/cluster_secrets.h"
#include "tools/cluster/control.h"
#include "tools/cluster/node_operations.h"
#include "tools/cluster/state_directory.h"
#include "tools/cluster/supervisor.h"
#include "tools/cluster/swap_plan.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"

DEFINE_string(spec, "data/clusters/dev.textproto", "cluster spec, Protobuf text format");
DEFINE_string(data, "data/var/index",
              "folder of the built index; relative paths in the spec start here");
DEFINE_string(state, "", "folder of pids, logs and lock; default: data/var/clusters/NAME");
DEFINE_bool(status, false, "show the nodes of the running cluster");
DEFINE_bool(stop, false, "stop the running cluster");
DEFINE_string(kill, "", "kill this node's process at once; the supervisor restarts it");
DEFINE_string(pause, "", "suspend this node's process");
DEFINE_string(resume, "", "continue a suspended node");
DEFINE_string(drain, "", "take this node out of service: it finishes its requests and stays down");
DEFINE_string(restart, "",
              "restart this node without losing a request; also brings back a drained node");
DEFINE_bool(rolling_restart, false, "restart all nodes, one after the other");
DEFINE_string(
    swap, "",
    "SERVICE=WHAT, node by node: another implementation, another module (a name or a path), "
    "or, with nothing after the =, the settings of the spec");
DEFINE_string(set, "", "with --swap: additional parameters, KEY=VALUE,KEY=VALUE");
DEFINE_string(nodes, "", "with --swap and --rolling_restart: only these nodes, in this order");
DEFINE_bool(continue, false, "continue an interrupted swap or rolling restart");
DEFINE_bool(abandon, false,
            "give up an interrupted swap or rolling restart and leave the nodes as they are");
DEFINE_bool(force, false, "also take down the last replica of a partition");
DEFINE_bool(
    span_log, false,
    "every node writes spans of sampled searches as lines of OTLP in JSON, nodes/NAME/spans in "
    "the state folder");
DEFINE_double(wait_s, 60, "longest time for one node until all others see it in service again");

namespace search::tools {
namespace {

using neptune::Status;
using neptune::StatusOr;

constexpr char kUsage[] =
    "runs a cluster on this machine\n\n"
    "  cluster [--spec=FILE] [--data=DIR]   start it, restart nodes that die, stop on Ctrl-C\n"
    "  cluster --status                     show the nodes of the running cluster\n"
    "  cluster --kill=NODE                  kill a node; the supervisor starts it again\n"
    "  cluster --pause=NODE, --resume=NODE  suspend a node's process, continue it\n"
    "  cluster --drain=NODE                 let a node finish its requests, and leave it down\n"
    "  cluster --restart=NODE               the same, and start it again; refused unless other "
    "nodes offer all that it hosts\n"
    "  cluster --rolling_restart            restart all nodes in turn\n"
    "  cluster --swap=SERVICE=WHAT          another module or implementation of a service, node by "
    "node\n"
    "  cluster --continue, --abandon        for a swap or rolling restart that was interrupted\n"
    "  cluster --stop                       stop the running cluster";

constexpr int kStopTimeoutMs = 30'000;

// Programs and modules are in this program's runfiles, or beside it in the build tree.
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

StatusOr<std::vector<std::string>> ModuleFolders() {
  std::vector<std::string> folders;
  for (const char* module : {"frontend/frontend.so", "index/tier/service/index_tier.so",
                             "docserver/service/document_server.so", "cache/service/query_cache.so",
                             "cache/persistent/persistent_cache_server.so"}) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string path, FindBuilt(module));
    folders.push_back(std::filesystem::path(path).parent_path().string());
  }
  return folders;
}

StatusOr<std::string> ModuleFolderList() {
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<std::string> folders, ModuleFolders());
  std::string list;
  for (const std::string& folder : folders) list += (list.empty() ? "" : ":") + folder;
  return list;
}

StatusOr<DecidedSpec> LoadDecidedSpec(const StateDirectory& state) {
  DecidedSpec spec{.base = {}, .path = ProjectPath(FLAGS_spec), .changes = {}};
  NEPTUNE_ASSIGN_OR_RETURN(spec.base, neptune::LoadClusterSpec(spec.path));
  NEPTUNE_ASSIGN_OR_RETURN(spec.changes, LoadChanges(state));
  return spec;
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

void TellDecided(const DecidedSpec& decided, const StateDirectory& state) {
  const std::string text = DescribeChanges(decided.base, decided.changes, state);
  if (!text.empty()) std::printf("%s", text.c_str());
}

Status RunCluster(const DecidedSpec& decided, StateDirectory& state) {
  const neptune::ClusterSpec& spec = decided.base;
  const std::string data = ProjectPath(FLAGS_data);
  if (!std::filesystem::exists(data)) {
    return neptune::NotFound("no index in ", data, "; build one first (./tools/up does)");
  }
  NEPTUNE_RETURN_IF_ERROR(state.Lock());
  NEPTUNE_RETURN_IF_ERROR(MakeClusterSecrets(spec, decided.path));
  const Status applies = WriteNodesSpec(decided, state);
  if (!applies.ok()) {
    return neptune::Annotate(applies, "recorded changes (" + state.ChangesFile() +
                                          "; remove the file to run the cluster as in the spec)");
  }
  SupervisorOptions options;
  NEPTUNE_ASSIGN_OR_RETURN(options.program, FindBuilt("neptune/node/neptuned"));
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<std::string> module_folders, ModuleFolders());
  NEPTUNE_RETURN_IF_ERROR(neptune::CheckSpecFile(state.SpecFile(), module_folders));
  NEPTUNE_ASSIGN_OR_RETURN(const std::string folders, ModuleFolderList());
  options.arguments = {"--spec=" + state.SpecFile(), "--base_dir=" + data,
                       "--module_dir=" + folders, "--data_dir=" + state.DataDirectory()};
  options.span_logs = FLAGS_span_log;
  std::vector<std::string> nodes;
  for (const auto& node : spec.nodes()) nodes.push_back(node.name());
  Supervisor supervisor(nodes, state, options);
  NEPTUNE_RETURN_IF_ERROR(supervisor.Start());
  std::printf("cluster %s runs with %zu nodes\n%sCtrl-C stops it\n", spec.name().c_str(),
              nodes.size(), HttpAddresses(spec).c_str());
  TellDecided(decided, state);
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
    return neptune::NotFound("the supervisor is not running");
  }
  pollfd ended = {.fd = process, .events = POLLIN, .revents = 0};
  const int ready = poll(&ended, 1, kStopTimeoutMs);
  close(process);
  if (ready <= 0) return neptune::DeadlineExceeded("the cluster has not stopped in time");
  return neptune::OkStatus();
}

// Returns the command; "" starts the cluster. A node's name may not be empty: `--kill=$NODE`
// without the variable would start a cluster otherwise.
StatusOr<std::string> ChosenCommand(const std::vector<std::string>& rest) {
  if (!rest.empty()) {
    return neptune::InvalidArgument("unexpected argument '", rest[0],
                                    "'; flags begin with --, see --help");
  }
  std::string chosen;
  for (const char* command : {"status", "stop", "kill", "pause", "resume", "drain", "restart",
                              "rolling_restart", "swap", "continue", "abandon"}) {
    const gflags::CommandLineFlagInfo flag = gflags::GetCommandLineFlagInfoOrDie(command);
    if (flag.is_default || flag.current_value == "false") continue;
    if (flag.current_value.empty()) {
      return neptune::InvalidArgument("--", command, " needs the name of a ",
                                      std::string_view(command) == "swap" ? "service" : "node",
                                      "; --status lists them");
    }
    if (!chosen.empty()) {
      return neptune::InvalidArgument("--", chosen, " and --", command, " cannot be combined");
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

// True if `name` is a module that nodes can find; a path always is.
StatusOr<bool> IsModule(const std::string& name) {
  if (name.find('/') != std::string::npos || name == "echo" || name == "registers") return true;
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<std::string> folders, ModuleFolders());
  for (const std::string& folder : folders) {
    std::error_code ignored;
    if (!name.empty() && std::filesystem::exists(folder + "/" + name + ".so", ignored)) return true;
  }
  return false;
}

StatusOr<RollingChange> OrderedSwap(const neptune::ClusterSpec& spec) {
  NEPTUNE_ASSIGN_OR_RETURN(SwapOrder order, ParseSwap(FLAGS_swap));
  NEPTUNE_ASSIGN_OR_RETURN(order.is_module, IsModule(order.to));
  if (order.to.find('/') != std::string::npos) {
    order.to = CallerPath(order.to);
    if (!std::filesystem::exists(order.to)) return neptune::NotFound("no module ", order.to);
  }
  order.nodes = SplitList(FLAGS_nodes);
  order.parameters = SplitList(FLAGS_set);
  const auto manifest = ReadIndexManifest(ProjectPath(FLAGS_data));
  return PlanSwap(spec, order, manifest.ok() ? manifest->parts : std::vector<ManifestPart>());
}

RollingChange OrderedRestart(const neptune::ClusterSpec& spec, const StateDirectory& state) {
  RollingChange change{.what = "rolling restart"};
  std::vector<std::string> nodes = SplitList(FLAGS_nodes);
  if (nodes.empty()) {
    for (const auto& node : spec.nodes()) {
      if (!state.IsHeld(node.name())) nodes.push_back(node.name());
    }
  }
  for (const std::string& node : nodes) change.nodes.push_back({node});
  return change;
}

Status Abandon(NodeOperations& operations, ClusterChanges changes) {
  if (!changes.under_way) return neptune::FailedPrecondition("no change is in progress");
  changes.under_way.reset();
  return operations.Save(changes);
}

Status Operate(const std::string& command, const DecidedSpec& decided, StateDirectory& state) {
  NEPTUNE_RETURN_IF_ERROR(state.LockChanges());
  OperationOptions options;
  options.wait = std::chrono::milliseconds(static_cast<int64_t>(1e3 * FLAGS_wait_s));
  options.force = FLAGS_force;
  options.report = [](const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  };
  NodeOperations operations(decided, state, options);
  if (command == "drain") return operations.Drain(FLAGS_drain);
  if (command == "restart") return operations.RestartOne(FLAGS_restart);
  if (command == "abandon") return Abandon(operations, decided.changes);
  if (command == "continue") return operations.Roll(std::nullopt);
  if (command == "rolling_restart") return operations.Roll(OrderedRestart(decided.base, state));
  NEPTUNE_ASSIGN_OR_RETURN(RollingChange swap, OrderedSwap(decided.base));
  return operations.Roll(std::move(swap));
}

Status Run(const std::vector<std::string>& rest) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string command, ChosenCommand(rest));
  NEPTUNE_ASSIGN_OR_RETURN(const neptune::ClusterSpec spec,
                           neptune::LoadClusterSpec(ProjectPath(FLAGS_spec)));
  StateDirectory state(FLAGS_state.empty() ? ProjectOutputPath("data/var/clusters/" + spec.name())
                                           : CallerPath(FLAGS_state));
  if (command == "status") {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string text, DescribeCluster(spec, state));
    std::fputs(text.c_str(), stdout);
    NEPTUNE_ASSIGN_OR_RETURN(const DecidedSpec decided, LoadDecidedSpec(state));
    TellDecided(decided, state);
    return neptune::OkStatus();
  }
  if (command == "stop") return StopCluster(state);
  if (command == "kill") {
    return SignalAndTell(spec, state, FLAGS_kill, SIGKILL, "was killed and restarts");
  }
  if (command == "pause") return SignalAndTell(spec, state, FLAGS_pause, SIGSTOP, "is paused");
  if (command == "resume") return SignalAndTell(spec, state, FLAGS_resume, SIGCONT, "continues");
  NEPTUNE_ASSIGN_OR_RETURN(const DecidedSpec decided, LoadDecidedSpec(state));
  if (!command.empty()) return Operate(command, decided, state);
  return RunCluster(decided, state);
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  const auto rest = search::tools::ParseCommandLine(&argc, &argv, search::tools::kUsage, __FILE__);
  return search::tools::ExitStatus(search::tools::Run(rest), "cluster");
}
