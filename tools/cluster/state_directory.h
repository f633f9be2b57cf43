// What a running cluster leaves on disk for the commands that talk to it.
//
//   DIR/lock                held by the supervisor while it runs; holds its pid
//   DIR/nodes/NAME/started  written by the node: pid and endpoints
//   DIR/nodes/NAME/log      what the node printed, of this and earlier lives
//   DIR/nodes/NAME/spans    spans of sampled searches, with --span_log; .1, .2, ... are older files
//   DIR/nodes/NAME/pid      written by the supervisor while the node's process runs
//   DIR/nodes/NAME/held     the node is drained: the supervisor does not start it
//   DIR/changes.json        decisions that override the spec (changes_file.h)
//   DIR/spec.textproto      the resulting spec, which nodes start with
//   DIR/changing            locked by the tool that changes the cluster
//
// Threads: thread-compatible.
// Errors: NOT_FOUND no such cluster is running; FAILED_PRECONDITION another supervisor holds it, or
//   another tool is changing it.

#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "neptune/base/status.h"

namespace search::tools {

// What a node wrote when it had started.
struct StartedNode {
  pid_t pid = 0;
  std::string calls;  // endpoints, "address:port"
  std::string admin;
};

class StateDirectory {
 public:
  explicit StateDirectory(std::string directory) : directory_(std::move(directory)) {}
  ~StateDirectory();
  StateDirectory(const StateDirectory&) = delete;
  StateDirectory& operator=(const StateDirectory&) = delete;

  // Makes the folders and takes the lock, which ends with this process.
  neptune::Status Lock();
  // The pid of the supervisor that holds the lock.
  neptune::StatusOr<pid_t> Supervisor() const;
  // Makes it read which nodes are held, and start the others that wait for their next start at
  // once.
  neptune::Status WakeSupervisor() const;
  // The right to change the running cluster, until this process ends.
  neptune::Status LockChanges();

  neptune::Status MakeNode(const std::string& node) const;
  std::string StartedFile(const std::string& node) const;
  std::string LogFile(const std::string& node) const;
  std::string SpanFile(const std::string& node) const;
  // Folder of the data of replicated services; kept over restarts of the cluster.
  std::string DataDirectory() const { return directory_ + "/data"; }
  // nullopt while the node has not started, or its file is not readable.
  std::optional<StartedNode> ReadStarted(const std::string& node) const;
  void ForgetStarted(const std::string& node) const;

  // The node's process, started or not yet; 0 if there is none.
  pid_t RunningPid(const std::string& node) const;
  void SetRunningPid(const std::string& node, pid_t pid) const;
  bool IsHeld(const std::string& node) const;
  neptune::Status SetHeld(const std::string& node, bool held) const;
  std::string ChangesFile() const { return directory_ + "/changes.json"; }
  std::string SpecFile() const { return directory_ + "/spec.textproto"; }

 private:
  const std::string directory_;
  int lock_ = -1;
  int changes_lock_ = -1;
};

}  // namespace search::tools
