// Checks whether a folder is a version of the index that a cluster can serve.
//
// Threads: pure functions over files that do not change.
// Errors: DATA_LOSS damaged, malformed or not copied to the end, with the file and the reason;
//   FAILED_PRECONDITION whole, but not what the cluster needs, with what is missing; NOT_FOUND no
//   index there.

#pragma once

#include <set>
#include <string>

#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.h"
#include "tools/build_index/index_manifest.h"

namespace search::tools {

// Reads everything: the manifest, every file's size and checksum, the seal of every partition of a
//   tier, and the file of synonyms, which frontends read.
neptune::StatusOr<IndexManifest> CheckVersionFolder(const std::string& folder);

// A service that serves versions of the index, and where it runs.
struct VersionedService {
  std::string service;
  std::set<std::string> nodes;
};

// How a cluster serves versions.
struct VersionedCluster {
  std::string list;  // parameter `versions`, which is the same for all services
  std::vector<VersionedService> services;
};

// Errors: FAILED_PRECONDITION no service serves versions, some services with an index do not, or
//   the documents of the cluster are updatable.
neptune::StatusOr<VersionedCluster> VersionsOf(const neptune::ClusterSpec& spec);

// Checks that the version has every partition hosted by the cluster's nodes, for the
// implementations they run.
neptune::Status FitsCluster(const IndexManifest& manifest, const neptune::ClusterSpec& spec);

}  // namespace search::tools
