// The body of the node program: runs one node until a signal ends it.
//
// Threads: the program's main thread, before any other thread is made.

#pragma once

#include <string>
#include <vector>

#include "neptune/base/time.h"

namespace neptune {

struct NodeProgramOptions {
  std::string spec;  // path of the cluster spec
  std::string node;  // this node's name in it
  // Folders with module libraries. Default: the program's own.
  std::vector<std::string> module_folders;
  // Where relative paths in the spec start. Default: the spec's folder.
  std::string base_directory;
  // Folder of durable storage, where the node has a folder of its own name; what replicated services keep. Default: none, and
  // a node of a replicated service does not start.
  std::string data_directory;
  // IPv4 address to bind and to announce. Default: the spec's interface_address.
  std::string address;
  // File that sampled spans go to, as lines of OTLP in JSON; see neptune/service/line_log.h. Default: nowhere.
  std::string span_log;
  // Written once the node has started: pid and endpoints, one a line. Default: nowhere.
  std::string started_file;
  // Longest time to finish requests in flight after the signal.
  Duration grace = std::chrono::seconds(5);
};

// Runs the node until SIGTERM or SIGINT, then stops it; a second signal ends the process at once. The
// process's exit status: 0 a clean stop, 1 the node could not start, 2 wrong options or spec.
int RunNodeProgram(const NodeProgramOptions& options);

}  // namespace neptune
