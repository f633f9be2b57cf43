// The body of the node program: runs one node until a signal ends it.
//
// Threads: the program's main thread, before any other thread is created.

#pragma once

#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune {

struct NodeProgramOptions {
  std::string spec;  // path of the cluster spec
  std::string node;  // this node's name in it
  // Folders with module libraries. Default: the program's own.
  std::vector<std::string> module_folders;
  // Folder that relative paths in parameters are resolved against. Default: the spec's folder.
  std::string base_directory;
  // Folder for the durable data of replicated services, in a subfolder named after the node.
  // Default: none; a node of a replicated service then does not start.
  std::string data_directory;
  // IPv4 address to bind and to announce. Default: the spec's interface_address.
  std::string address;
  // Starts as root at an address that other machines reach; see start_policy.h.
  bool allow_root = false;
  // Keeps the memory of the process from core files and other processes (private_memory.h).
  bool private_memory = false;
  // File for sampled spans, as lines of OTLP JSON; see neptune/service/line_log.h. Default: none.
  std::string span_log;
  // File that is written once the node has started: pid and endpoints, one per line. Default: none.
  std::string started_file;
  // Maximum time to finish requests in flight after the signal.
  Duration grace = std::chrono::seconds(5);
};

// Runs the node until SIGTERM or SIGINT, then stops it; a second signal ends the process at once.
// Returns the exit status: 0 clean stop, 1 the node could not start, 2 invalid options or spec.
int RunNodeProgram(const NodeProgramOptions& options);

// Checks the spec in a file and the parameters of every service in it; starts nothing.
// `module_folders`: see NodeProgramOptions.
// REQUIRES: the program has no other thread.
Status CheckSpecFile(const std::string& spec, const std::vector<std::string>& module_folders);

// The same as a program: returns 0, or prints what is wrong and returns 2.
int CheckSpecProgram(const std::string& spec, const std::vector<std::string>& module_folders);

// Prints the parameters of a module as a table. Returns 0, or 2 if the module cannot be loaded.
int DescribeModuleProgram(const std::string& module,
                          const std::vector<std::string>& module_folders);

}  // namespace neptune
