#include "neptune/node/neptuned_main.h"

#include <gflags/gflags.h>
#include <glog/logging.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "absl/synchronization/notification.h"
#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/node/echo_module.h"
#include "neptune/node/module_loader.h"
#include "neptune/node/node.h"
#include "neptune/world/real/real_world.h"

DEFINE_string(spec, "", "cluster spec, a file in Protobuf text format");
DEFINE_string(node, "", "name of this node in the spec");
DEFINE_string(module_dir, "",
              "folders with module libraries, separated by ':'; default: the program's");
DEFINE_string(base_dir, "",
              "folder that relative paths in the spec start from; default: the spec's");
DEFINE_string(started_file, "",
              "written once the node has started: its pid and endpoints, one a line");
DEFINE_int32(grace_ms, 5000, "longest time to finish requests in flight after SIGTERM");
DEFINE_bool(die_with_parent, false, "end when the process that started this one ends");

namespace neptune {
namespace {

std::vector<std::string> ModuleFolders(const char* program) {
  std::vector<std::string> folders;
  std::string rest = FLAGS_module_dir;
  if (rest.empty()) {
    std::error_code ignored;
    rest = std::filesystem::canonical("/proc/self/exe", ignored).parent_path().string();
  }
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    folders.push_back(rest.substr(0, colon));
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return folders;
}

StatusOr<NodeOptions> ReadOptions(const char* program) {
  if (FLAGS_spec.empty() || FLAGS_node.empty())
    return InvalidArgument("--spec and --node are needed");
  NodeOptions options;
  NEPTUNE_ASSIGN_OR_RETURN(options.spec, LoadClusterSpec(FLAGS_spec));
  options.name = NodeId(FLAGS_node);
  if (FindNode(options.spec, options.name) == nullptr) {
    return InvalidArgument("node '", FLAGS_node, "' is not in ", FLAGS_spec);
  }
  options.base_directory = FLAGS_base_dir;
  if (options.base_directory.empty()) {
    options.base_directory = std::filesystem::absolute(FLAGS_spec).parent_path().string();
  }
  options.modules = [folders = ModuleFolders(program)](
                        const std::string& module) -> StatusOr<std::unique_ptr<ServiceModule>> {
    if (module == "echo") return std::make_unique<EchoModule>();
    return LoadModule(module, folders);
  };
  return options;
}

Status TellStarted(const Node& node) {
  if (FLAGS_started_file.empty()) return OkStatus();
  return WriteFileAtomically(FLAGS_started_file,
                             StrCat("pid ", getpid(), "\ncalls ", node.call_endpoint().ToString(),
                                    "\nadmin ", node.admin_endpoint().ToString(), "\n"));
}

// Waits for the signal that ends the program; a second one ends it at once.
void WaitForStopSignal(const sigset_t& signals) {
  int signal = 0;
  sigwait(&signals, &signal);
  LOG(INFO) << "stopping on signal " << signal;
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

int RunNode(NodeOptions options) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before any thread is made, which inherit it
  std::unique_ptr<World> world = MakeRealWorld({});
  Node node(*world, std::move(options));
  absl::Notification started;
  Status status;
  node.Start([&](const Status& result) {
    status = result;
    started.Notify();
  });
  started.WaitForNotification();
  if (status.ok()) status = TellStarted(node);
  if (!status.ok()) {
    std::fprintf(stderr, "neptuned: node %s did not start: %s\n", node.name().value().c_str(),
                 status.ToString().c_str());
    world->Stop();
    return 1;
  }
  LOG(INFO) << "node " << node.name() << " answers calls at " << node.call_endpoint()
            << ", status at " << node.admin_endpoint();
  WaitForStopSignal(signals);
  absl::Notification stopped;
  node.Stop(std::chrono::milliseconds(FLAGS_grace_ms), [&] { stopped.Notify(); });
  stopped.WaitForNotification();
  world->Stop();
  return 0;
}

}  // namespace

int NeptunedMain(int argc, char** argv) {
  gflags::SetUsageMessage(
      "runs one node of a cluster\n\n  neptuned --spec=FILE --node=NAME\n\nThe spec is explained "
      "in "
      "neptune/node/cluster_spec.proto. SIGTERM stops the node after its requests in flight.");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (FLAGS_die_with_parent) prctl(PR_SET_PDEATHSIG, SIGTERM);
  FLAGS_logtostderr = true;
  google::InitGoogleLogging(argv[0]);
  StatusOr<NodeOptions> options = ReadOptions(argv[0]);
  if (!options.ok()) {
    std::fprintf(stderr, "neptuned: %s\n", options.status().ToString().c_str());
    return 2;
  }
  return RunNode(*std::move(options));
}

}  // namespace neptune
