// What a running cluster leaves on disk for the commands that talk to it.
//
//   DIR/lock                held by the supervisor while it runs; holds its pid
//   DIR/nodes/NAME/started  written by the node: pid and endpoints
//   DIR/nodes/NAME/log      what the node printed, of this and earlier lives
//
// Source: none. Layer: tools. Threads: thread-compatible.
// Errors: NOT_FOUND no such cluster runs; FAILED_PRECONDITION another supervisor holds it.

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

  neptune::Status MakeNode(const std::string& node) const;
  std::string StartedFile(const std::string& node) const;
  std::string LogFile(const std::string& node) const;
  // Where nodes keep the data of replicated services, over starts of the cluster.
  std::string DataDirectory() const { return directory_ + "/data"; }
  // nullopt while the node has not started, or its file is not readable.
  std::optional<StartedNode> ReadStarted(const std::string& node) const;
  void ForgetStarted(const std::string& node) const;

 private:
  const std::string directory_;
  int lock_ = -1;
};

}  // namespace search::tools
