// The file of the decisions about a running cluster that override its spec; and the spec that its
// nodes start with as a result.
//
//   {"format_version": 1,
//    "hosted": [{"node": "store-1", "service": "tier1", "module": "",
//                "parameters": {"implementation": "rocksdb_postings", "path":
//                "tier1.rocksdb_postings"}}],
//    "under_way": {"what": "swap tier1=rocksdb_postings", "implementation": "rocksdb_postings",
//    "failure": "",
//                  "change": {"service": "tier1", "module": "", "parameters": {...}},
//                  "nodes": [{"node": "store-1", "stage": "changed"}, {"node": "store-2", "stage":
//                  "changing",
//                             "before": {...}}]}}
//
// "under_way", "change" and "before" may be absent. Recovery: the file is replaced atomically; the
// tool that starts the cluster or resumes a change derives the nodes' spec from it again.
//
// Threads: pure functions.
// Errors: DATA_LOSS malformed text, with the reason; ApplyChanges: FAILED_PRECONDITION the spec
//   does not host a changed service there.
// Limits: kChangesSizeMax bytes.

#pragma once

#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.h"
#include "tools/cluster/rolling_change.h"

namespace search::tools {

inline constexpr size_t kChangesSizeMax = size_t{4} << 20;

std::string ChangesJson(const ClusterChanges& changes);
neptune::StatusOr<ClusterChanges> ParseChanges(std::string_view text);

// Applies the decided changes to the spec.
neptune::Status ApplyChanges(const ClusterChanges& changes, neptune::ClusterSpec* spec);

// The spec as nodes read it, from any folder: `spec_path` is its original path, from which its own
// relative paths start.
std::string SpecForNodes(neptune::ClusterSpec spec, const std::string& spec_path);

}  // namespace search::tools
