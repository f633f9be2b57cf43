// The main function of an example's client program: joins a running cluster as a node, makes calls,
// and leaves.
//
//   main ─► reads the spec, adds a node "asker-PID" to it ─► starts that node
//        ─► waits for every partition ─► `ask`, on a user-level thread ─► stops the node
//
// Threads: the program's main thread.
// Errors: exit status 0 success, 1 the cluster did not answer or `ask` failed, 2 wrong flags or
//   spec; the reason is on standard error.
// Limits: waits kJoinTimeout until all partitions of the service are announced.

#pragma once

#include <functional>
#include <string>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/dac/dac.h"
#include "neptune/examples/client/operators_module.h"
#include "neptune/service/client.h"
#include "neptune/thread/user_thread.h"

namespace neptune::examples {

inline constexpr Duration kJoinTimeout = std::chrono::seconds(15);

struct ExampleClientOptions {
  std::string usage;
  const std::string* spec;  // the flag with the path of the running cluster's spec
  ServiceName service;      // the service to call
  RegisterOperators register_operators;
  std::function<Status(ClientSession& session, uint32_t partition_count)> ask;
};

// Parses the flags, runs, and returns the exit status.
int RunExampleClient(int* argc, char*** argv, const ExampleClientOptions& options);

}  // namespace neptune::examples
