#include "neptune/node/node_program.h"

#include <glog/logging.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "neptune/admin/profile/profile_pages.h"
#include "neptune/base/file.h"
#include "neptune/base/metrics.h"
#include "neptune/base/notification.h"
#include "neptune/base/private_memory.h"
#include "neptune/base/secret_file.h"
#include "neptune/base/strings.h"
#include "neptune/interpose/call_permit.h"
#include "neptune/node/echo_module.h"
#include "neptune/node/hosted_module.h"
#include "neptune/node/module_loader.h"
#include "neptune/node/node.h"
#include "neptune/node/node_security.h"
#include "neptune/node/register_module.h"
#include "neptune/node/replication_spec.h"
#include "neptune/node/start_policy.h"
#include "neptune/service/parameter_table.h"
#include "neptune/world/real/background_log.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

std::string ProgramFolder() {
  std::error_code ignored;
  return std::filesystem::canonical("/proc/self/exe", ignored).parent_path().string();
}

std::string FolderOf(const std::string& spec) {
  return std::filesystem::absolute(spec).parent_path().string();
}

// `spec_folder`: where relative paths of modules start.
ModuleFactory ModulesIn(std::vector<std::string> folders, const std::string& spec_folder) {
  if (folders.empty()) folders.push_back(ProgramFolder());
  return [folders,
          spec_folder](const std::string& module) -> StatusOr<std::unique_ptr<ServiceModule>> {
    if (module == "echo") return std::make_unique<EchoModule>();
    if (module == "registers") return std::make_unique<RegisterModule>();
    return LoadModule(module, folders, spec_folder);
  };
}

// The address that the spec names; loopback if that is malformed, which the spec's check refuses.
uint32_t InterfaceOf(const ClusterSpec& spec) {
  const StatusOr<Endpoint> own = Endpoint::Parse(spec.interface_address() + ":0");
  return own.ok() ? own->address : kLoopbackAddress;
}

StatusOr<NodeOptions> ReadOptions(const NodeProgramOptions& program) {
  NodeOptions options;
  NEPTUNE_ASSIGN_OR_RETURN(options.spec, LoadClusterSpec(program.spec));
  options.spec_directory = FolderOf(program.spec);
  options.modules = ModulesIn(program.module_folders, options.spec_directory);
  options.name = NodeId(program.node);
  if (FindNode(options.spec, options.name) == nullptr) {
    return InvalidArgument("node '", program.node, "' is not in ", program.spec);
  }
  if (program.data_directory.empty() && KeepsReplicas(options.spec, options.name)) {
    return InvalidArgument("node '", program.node, "' keeps replicas and needs a data directory");
  }
  if (!program.address.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(const Endpoint own, Endpoint::Parse(program.address + ":0"));
    options.address = own.address;
  }
  options.base_directory = program.base_directory;
  options.span_log = program.span_log;
  if (options.base_directory.empty()) options.base_directory = options.spec_directory;
  return options;
}

Status WriteStartedFile(const Node& node, const std::string& file) {
  if (file.empty()) return OkStatus();
  return WriteFileAtomically(
      file, StrCat("pid ", getpid(), "\ncalls ", node.call_endpoint().ToString(), "\ncontrol ",
                   node.control_endpoint().ToString(), "\nadmin ", node.admin_endpoint().ToString(),
                   "\n"));
}

// Waits for the signal that ends the program; a second signal ends it at once.
void WaitForStopSignal(const sigset_t& signals) {
  int signal = 0;
  sigwait(&signals, &signal);
  LOG(INFO) << "stopping on signal " << signal;
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

// Blocks the signals that stop the program, and returns them. Before any thread is created, because
// threads inherit it.
sigset_t PrepareSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGXFSZ, SIG_IGN);  // writes over the file size limit fail with EFBIG instead
  return signals;
}

std::unique_ptr<World> MakeWorld(const NodeProgramOptions& program) {
  RealWorldOptions options;
  if (!program.data_directory.empty()) {
    options.storage_directory =
        (std::filesystem::path(program.data_directory) / program.node).string();
  }
  return MakeRealWorld(options);
}

StatusOr<CallbackGauge> ShowDropped(const LogsInBackground& logs, MetricsRegistry& metrics) {
  return metrics.AddCallbackCounter("neptune_log_lines_dropped_total",
                                    "Log lines dropped because standard error did not take them.",
                                    {},
                                    [&logs] { return static_cast<double>(logs.dropped_count()); });
}

// Nodes of one machine may make the key that they lack themselves: those of several machines have
// to be given it.
Status MakeKeyOnLoopback(const NodeOptions& options, const StartSurroundings& surroundings) {
  const std::string& file = options.spec.cluster_key_file();
  if (file.empty() || !StaysOnThisMachine(surroundings.address)) return OkStatus();
  return MakeSecretFile(NodePath(file, options.name, options.spec_directory));
}

int RunNode(const NodeProgramOptions& program, const std::vector<std::string>& warnings,
            NodeOptions options) {
  const sigset_t signals = PrepareSignals();
  const LogsInBackground logs;
  const std::unique_ptr<World> world = MakeWorld(program);
  ProfilePages profiles(*world, program.node);
  options.add_admin_pages = [&](AdminServer& admin) { profiles.AddTo(admin); };
  Node node(*world, std::move(options));
  interpose::UseCapsules(&node.capsules());  // for blocking calls of modules' libraries
  const StatusOr<CallbackGauge> dropped = ShowDropped(logs, node.metrics());
  CHECK(dropped.ok()) << dropped.status();
  for (const std::string& warning : warnings) LOG(WARNING) << warning;
  Notification started;
  Status status;
  node.Start([&](const Status& result) {
    status = result;
    started.Notify();
  });
  started.WaitForNotification();
  if (status.ok()) status = WriteStartedFile(node, program.started_file);
  if (!status.ok()) {
    std::fprintf(stderr, "neptuned: node %s did not start: %s\n", node.name().value().c_str(),
                 status.ToString().c_str());
    world->Stop();
    return 1;
  }
  LOG(INFO) << "node " << node.name() << " answers calls at " << node.call_endpoint()
            << ", status at " << node.admin_endpoint();
  WaitForStopSignal(signals);
  Notification stopped;
  node.Stop(program.grace, [&] { stopped.Notify(); });
  stopped.WaitForNotification();
  world->Stop();
  return 0;
}

}  // namespace

int RunNodeProgram(const NodeProgramOptions& program) {
  // Before any secret is read.
  Status status = program.private_memory ? KeepMemoryPrivate() : OkStatus();
  StatusOr<NodeOptions> options = ReadOptions(program);
  if (status.ok()) status = options.status();
  StartSurroundings surroundings;
  if (status.ok()) {
    surroundings = {options->address.value_or(InterfaceOf(options->spec)), geteuid() == 0,
                    program.allow_root};
    status = CheckStart(options->spec, surroundings);
    if (status.ok()) status = MakeKeyOnLoopback(*options, surroundings);
  }
  if (!status.ok()) {
    std::fprintf(stderr, "neptuned: %s\n", status.ToString().c_str());
    return 2;
  }
  const auto warnings = StartWarnings(options->spec, surroundings);
  return RunNode(program, warnings, *std::move(options));
}

Status CheckSpecFile(const std::string& spec, const std::vector<std::string>& module_folders) {
  NEPTUNE_ASSIGN_OR_RETURN(const ClusterSpec loaded, LoadClusterSpec(spec));
  return Annotate(CheckModules(loaded, ModulesIn(module_folders, FolderOf(spec))), spec);
}

int CheckSpecProgram(const std::string& spec, const std::vector<std::string>& module_folders) {
  const Status status = CheckSpecFile(spec, module_folders);
  if (status.ok()) return 0;
  std::fprintf(stderr, "neptuned: %s\n", status.ToString().c_str());
  return 2;
}

int DescribeModuleProgram(const std::string& module, const std::vector<std::string>& folders) {
  const auto made = ModulesIn(folders, std::filesystem::current_path().string())(module);
  if (!made.ok()) {
    std::fprintf(stderr, "neptuned: %s\n", made.status().ToString().c_str());
    return 2;
  }
  ParameterTable table;
  (*made)->DeclareParameters(table);
  for (const ParameterDescription& one : table.Describe()) {
    const std::string otherwise = one.required ? "required" : "default '" + one.default_value + "'";
    std::printf("%s  %s; %s\n    %s\n", one.name.c_str(), one.limits.c_str(), otherwise.c_str(),
                one.help.c_str());
  }
  return 0;
}

}  // namespace neptune
