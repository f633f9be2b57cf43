// Client of the nodes' administration ports: reads services and changes thread settings.
//
// Threads: blocks the calling thread for at most kNodeTimeout per node.
// Errors: kUnavailable a node does not answer; kNotFound it does not host the service;
//   kPermissionDenied the token is wrong; kInvalidArgument rejected by the node, with its message.
//   Messages name the node.

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
  std::string name;  // used in messages
  HttpOrigin address;
};

struct AdminAccess {
  std::vector<AdminNode> nodes;
  std::string token;  // empty: changes are refused
};

// Parses "HOST:PORT,HOST:PORT".
neptune::StatusOr<std::vector<AdminNode>> ParseAdminNodes(std::string_view list);
// The nodes of the running cluster that host the service. `state_directory`: as the cluster tool's.
neptune::StatusOr<std::vector<AdminNode>> NodesOfCluster(const std::string& spec_path,
                                                         const std::string& state_directory,
                                                         std::string_view service);
// Reads the token from the file, without the line end. With an empty `path` uses the file named in
// the spec; returns an empty token if the spec names none.
neptune::StatusOr<std::string> ReadToken(const std::string& path, const std::string& spec_path);

// The node's current state of the service.
neptune::StatusOr<ServiceState> ReadService(const AdminNode& node, std::string_view service);

// Changes the thread settings at every node and reads them back to verify. On an error the nodes
// changed so far are restored, and the message says so.
neptune::Status ApplySettings(const AdminAccess& access, std::string_view service,
                              const ThreadSettings& settings);

}  // namespace search::tools
