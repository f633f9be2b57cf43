// The node program: parses flags and runs a node until a signal ends it.

#include <gflags/gflags.h>
#include <glog/logging.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "neptune/base/version.h"
#include "neptune/node/node_program.h"

DEFINE_string(spec, "", "path of the cluster spec, in Protobuf text format");
DEFINE_string(node, "", "name of this node in the spec");
DEFINE_string(module_dir, "",
              "folders with module libraries, separated by ':'; default: the program's");
DEFINE_string(
    base_dir, "",
    "folder that relative paths in parameters are resolved against; default: the spec's folder");
DEFINE_string(data_dir, "",
              "folder for the data of replicated services, in a subfolder named after the node");
DEFINE_string(address, "",
              "IPv4 address to bind and to announce; default: the spec's interface_address");
DEFINE_bool(allow_root, false, "run as root also at an address that other machines reach");
DEFINE_bool(private_memory, false,
            "write no core files, and let no other process read the memory, which holds keys and "
            "queries; then profilers and debuggers need root");
DEFINE_string(span_log, "",
              "file for spans of sampled requests, as lines of OTLP JSON; default: none");
DEFINE_string(started_file, "",
              "file that is written once the node has started: pid and endpoints, one per line");
DEFINE_bool(check_spec, false,
            "check the spec and the parameters of all its services, and end: status 0 or 2");
DEFINE_string(describe_module, "", "print the parameters of this module, and end");
DEFINE_int32(grace_ms, 5000, "maximum time to finish requests in flight after SIGTERM");

DECLARE_bool(help);

// Called by gflags to end the process when a flag does not parse; exported for this purpose, but
// not declared in a header.
namespace google {
extern void (*gflags_exitfunc)(int status);
}  // namespace google

namespace {

constexpr char kUsage[] =
    "runs one node of a cluster\n\n  neptuned --spec=FILE --node=NAME\n"
    "  neptuned --spec=FILE --check_spec\n  neptuned --describe_module=NAME\n\n"
    "neptune/node/cluster_spec.proto documents the spec. SIGTERM stops the node after its "
    "requests\n"
    "in flight. Exit status: 0 clean stop, 1 the node did not start, 2 invalid flag or spec.";

void PrintHelp() {
  std::printf("%s\n\nFlags:\n", kUsage);
  std::vector<gflags::CommandLineFlagInfo> flags;
  gflags::GetAllFlags(&flags);
  for (const gflags::CommandLineFlagInfo& flag : flags) {
    if (flag.filename != __FILE__) continue;
    std::printf("  --%s  (%s, default %s)\n      %s\n", flag.name.c_str(), flag.type.c_str(),
                flag.default_value.empty() ? "none" : flag.default_value.c_str(),
                flag.description.c_str());
  }
}

std::vector<std::string> SplitFolders(std::string list) {
  std::vector<std::string> folders;
  while (!list.empty()) {
    const size_t colon = list.find(':');
    folders.push_back(list.substr(0, colon));
    list = colon == std::string::npos ? "" : list.substr(colon + 1);
  }
  return folders;
}

}  // namespace

int main(int argc, char** argv) {
  gflags::SetUsageMessage(kUsage);
  gflags::SetVersionString(neptune::kVersion);
  google::gflags_exitfunc = [](int status) { std::exit(status == 0 ? 0 : 2); };
  gflags::ParseCommandLineNonHelpFlags(&argc, &argv, true);
  if (FLAGS_help) {
    PrintHelp();
    return 0;
  }
  gflags::HandleCommandLineHelpFlags();
  if (!FLAGS_describe_module.empty()) {
    return neptune::DescribeModuleProgram(FLAGS_describe_module, SplitFolders(FLAGS_module_dir));
  }
  if (FLAGS_spec.empty() || (FLAGS_node.empty() && !FLAGS_check_spec)) {
    std::fprintf(stderr, "neptuned: --spec and --node are required; see --help\n");
    return 2;
  }
  FLAGS_logtostderr = true;
  google::InitGoogleLogging(argv[0]);
  neptune::NodeProgramOptions options;
  options.spec = FLAGS_spec;
  options.node = FLAGS_node;
  options.module_folders = SplitFolders(FLAGS_module_dir);
  options.base_directory = FLAGS_base_dir;
  options.data_directory = FLAGS_data_dir;
  options.address = FLAGS_address;
  options.allow_root = FLAGS_allow_root;
  options.private_memory = FLAGS_private_memory;
  options.span_log = FLAGS_span_log;
  options.started_file = FLAGS_started_file;
  options.grace = std::chrono::milliseconds(FLAGS_grace_ms);
  if (FLAGS_check_spec) return neptune::CheckSpecProgram(options.spec, options.module_folders);
  return neptune::RunNodeProgram(options);
}
