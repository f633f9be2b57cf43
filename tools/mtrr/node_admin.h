// The administration ports of nodes: their services, and their threads changed.
//
// Threads: blocks the calling thread, for kNodeTimeout a node at most.
// Errors: kUnavailable a node does not answer; kNotFound it does not host the service;
//   kPermissionDenied without the right token; kInvalidArgument what the node refuses, in its
//   words. Messages name the node.

#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "tools/http/http_get.h"
#include "tools/mtrr/service_state.h"

namespace search::tools {

inline constexpr std::chrono::milliseconds kNodeTimeout{5'000};

struct AdminNode {
  std::string name;  // for people
  HttpOrigin address;
};

struct AdminAccess {
  std::vector<AdminNode> nodes;
  std::string token;  // empty: nothing can be changed
};

// "HOST:PORT,HOST:PORT".
neptune::StatusOr<std::vector<AdminNode>> ParseAdminNodes(std::string_view list);
// The nodes of the running cluster that host the service. `state_directory`: as the cluster tool's.
neptune::StatusOr<std::vector<AdminNode>> NodesOfCluster(const std::string& spec_path,
                                                         const std::string& state_directory,
                                                         std::string_view service);
// The token in the file, without the line's end; that the spec names if `path` is empty, and none
// if it names none.
neptune::StatusOr<std::string> ReadToken(const std::string& path, const std::string& spec_path);

// The node's current state of the service.
neptune::StatusOr<ServiceState> ReadService(const AdminNode& node, std::string_view service);

// Changes the threads at every node, and reads back whether it is so. At an error the nodes changed
// so far are put back as they were, and the message says so.
neptune::Status ApplySettings(const AdminAccess& access, std::string_view service,
                              const ThreadSettings& settings);

}  // namespace search::tools
