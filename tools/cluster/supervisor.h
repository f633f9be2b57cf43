// Starts the processes of a cluster, restarts those that die, and stops them all.
//
// Threads: one; it owns the process's SIGCHLD, SIGINT, SIGTERM, SIGHUP and SIGUSR1.
// Limits: a node that dies repeatedly is restarted with pauses of up to ten seconds; a node that
//   does not stop within the grace time is killed. A node that ends with status 0 was asked to stop
//   and is restarted at once; this does not count as a failure. A held (drained) node is not
//   started until it is released. The log of a node is cut at 32 MiB, and the one before is kept.

#pragma once

#include <sys/types.h>

#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/process.h"
#include "neptune/base/time.h"
#include "tools/cluster/restart_policy.h"
#include "tools/cluster/state_directory.h"

namespace search::tools {

struct SupervisorOptions {
  std::string program;                 // neptuned
  std::vector<std::string> arguments;  // for every node
  bool span_logs = false;              // each node writes its spans to StateDirectory::SpanFile
  neptune::Duration grace = std::chrono::seconds(8);
  // How long all nodes may take to start before Start gives up.
  neptune::Duration start_timeout = std::chrono::seconds(60);
};

class Supervisor {
 public:
  Supervisor(std::vector<std::string> nodes, const StateDirectory& state,
             SupervisorOptions options);

  // Starts every node and waits until all have started. Errors: UNAVAILABLE one died while starting
  // (the message has the end of its log) or took too long; CANCELLED by a signal. Started ones are
  // stopped.
  neptune::Status Start();
  // Keeps them running until SIGINT, SIGTERM or SIGHUP. SIGUSR1: nodes that wait for their next
  // start are started now.
  void Run();
  // Stops every node: SIGTERM, then SIGKILL after the grace time. Afterwards no process is left.
  void Stop();

 private:
  struct NodeProcess {
    std::optional<neptune::Process> process;  // absent: not running
    pid_t pid() const { return process ? process->id() : 0; }
    size_t log_begin = 0;  // where this life's part of the log begins, in bytes
    neptune::TimePoint started;
    neptune::TimePoint restart_at = neptune::kNever;
    RestartPolicy policy;
  };
  neptune::Status Spawn(const std::string& node);
  // Waits for a signal until `deadline`; true if it is one that ends the cluster.
  bool WaitForSignal(neptune::TimePoint deadline);
  struct Death {
    std::string node;
    bool clean = false;  // it ended as it was asked to
  };
  // Collects the dead.
  std::vector<Death> Reap();
  void BoundLogs();
  void Bury(const Death& death, neptune::TimePoint now);
  bool AllStarted() const;
  bool AnyRunning() const;
  void SignalAll(int signal);

  const StateDirectory& state_;
  const SupervisorOptions options_;
  std::map<std::string, NodeProcess> processes_;
  sigset_t signals_;
  bool woken_ = false;  // by SIGUSR1
};

}  // namespace search::tools
