// Whether a folder is a version of the index that a cluster can serve.
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

// Reads all of it: the manifest, every file's size and checksum, the seal of every partition of a
//   tier.
neptune::StatusOr<IndexManifest> CheckVersionFolder(const std::string& folder);

// A service that serves versions of the index, and where it runs.
struct VersionedService {
  std::string service;
  std::set<std::string> nodes;
};

// How a cluster serves versions.
struct VersionedCluster {
  std::string list;  // the parameter `versions`, the same of all of them
  std::vector<VersionedService> services;
};

// Errors: FAILED_PRECONDITION no service serves versions, some do not although they have the index,
//   or documents change.
neptune::StatusOr<VersionedCluster> VersionsOf(const neptune::ClusterSpec& spec);

// Whether the version has every partition that the cluster's nodes host, for the implementations
// that they run.
neptune::Status FitsCluster(const IndexManifest& manifest, const neptune::ClusterSpec& spec);

}  // namespace search::tools
