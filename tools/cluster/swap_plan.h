// Plans a swap of a service's module or implementation: the nodes, and what each of them hosts
// afterwards.
//
//   tier1=rocksdb_postings      parameter `implementation`, and the folder of its index
//   cache=/some/new_cache.so    another module; several versions of one may run side by side
//   tier1=                      the spec's settings
//
// Threads: pure functions.
// Errors: INVALID_ARGUMENT an impossible request, with the possible ones; NOT_FOUND the index was
//   not built for the implementation.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.h"
#include "tools/build_index/index_manifest.h"
#include "tools/cluster/rolling_change.h"

namespace search::tools {

struct SwapOrder {
  std::string service;
  std::string to;
  // Whether `to` names a module; else it is an implementation.
  bool is_module = false;
  // The nodes, in that order; empty: all that host the service, in the spec's.
  std::vector<std::string> nodes;
  // "KEY=VALUE" besides.
  std::vector<std::string> parameters;
};

// "SERVICE=WHAT".
neptune::StatusOr<SwapOrder> ParseSwap(std::string_view text);

// `parts`: those of the index that the cluster serves; empty if there is no manifest.
neptune::StatusOr<RollingChange> PlanSwap(const neptune::ClusterSpec& spec, const SwapOrder& order,
                                          const std::vector<ManifestPart>& parts);

}  // namespace search::tools
