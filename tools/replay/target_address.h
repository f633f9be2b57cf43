// The servers of a run, parsed from the --target syntax.
//
//   http://HOST:PORT[,http://HOST:PORT...]                 frontends
//   neptune://HOST:PORT[,HOST:PORT...]/SERVICE/PARTITION/METHOD   nodes; payload the query's text, or for the
//                                                          method Search of an index tier a
//                                                          TierQuery
//
// Threads: ParseTarget is pure; the others belong to a loop.
// Errors: INVALID_ARGUMENT an address of neither form; hosts are IPv4 addresses or localhost.
//   CheckReachable: UNAVAILABLE names the first server that does not accept a connection.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/security/cluster_key.h"
#include "neptune/world/network.h"
#include "neptune/world/world.h"
#include "tools/replay/load_target.h"

namespace search::tools {

struct TargetAddress {
  bool is_http = true;
  std::vector<neptune::Endpoint> servers;
  std::string service;  // neptune:// only, like the next two
  uint32_t partition = 0;
  std::string method;
};

neptune::StatusOr<TargetAddress> ParseTarget(std::string_view text);

struct TargetOptions {
  neptune::Duration timeout = std::chrono::seconds(5);
  size_t connection_count_max = 8192;
  bool use_cache = true;
  // Path of HTTP requests; empty: that of a search with a JSON answer.
  std::string path;
  // The cluster key of the nodes; null: they need none.
  std::shared_ptr<const neptune::ClusterKeys> keys;
  // If above 0, frontends that do not answer within this time are avoided, see failover_target.h.
  neptune::Duration failover_patience{0};
};

// Creates the target on its loop. REQUIRES: `plan` outlives it.
std::unique_ptr<LoadTarget> MakeTarget(neptune::Loop& loop, const ReplayPlan& plan,
                                       const TargetAddress& address, const TargetOptions& options);

// Connects to each server once and disconnects. Blocks the calling thread, which must not run a
// loop.
neptune::Status CheckReachable(neptune::Loop& loop, const std::vector<neptune::Endpoint>& servers);

}  // namespace search::tools
