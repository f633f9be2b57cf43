// The versions of a cluster on this machine: the list on disk, and what its running nodes report on
// their status pages.
//
// Threads: one; Await blocks it.
// Errors: DEADLINE_EXCEEDED a node has not loaded the list in time; UNAVAILABLE a node cannot load
//   it, with its reason.
// Limits: ClusterVersionsOptions::wait.

#pragma once

#include <string>

#include "neptune/base/time.h"
#include "tools/cluster/state_directory.h"
#include "tools/publish/publication.h"
#include "tools/publish/version_check.h"

namespace search::tools {

struct ClusterVersionsOptions {
  std::string list_path;
  // Time limit for all nodes together to open a version. Default: 120 s.
  neptune::Duration wait = std::chrono::seconds(120);
  // A node that reports for this long that it cannot use the list has failed. Default: 3 s.
  neptune::Duration trouble_max = std::chrono::seconds(3);
};

// What a node reports about a list. Errors: DATA_LOSS the page has no such section.
struct VersionFacts {
  uint64_t change = 0;
  std::string current;
  std::string trouble;
};
neptune::StatusOr<VersionFacts> ParseVersionFacts(std::string_view status_page);

// REQUIRES: the state directory outlives it. If no cluster is running, Await returns immediately
//   because nodes load the list when they start.
class ClusterVersions final : public VersionHost {
 public:
  ClusterVersions(VersionedCluster cluster, const StateDirectory& state,
                  ClusterVersionsOptions options)
      : cluster_(std::move(cluster)), state_(state), options_(std::move(options)) {}

  neptune::StatusOr<std::optional<index::VersionList>> Load() override;
  neptune::Status Store(const index::VersionList& list) override;
  neptune::Status Await(const index::VersionList& list) override;

 private:
  // The report of the first node that does not use the list yet; empty if all do. Sets `trouble` if
  // that node cannot use it.
  std::string Lagging(const index::VersionList& list, bool* trouble) const;
  neptune::StatusOr<VersionFacts> Ask(const std::string& node, const std::string& service) const;

  const VersionedCluster cluster_;
  const StateDirectory& state_;
  const ClusterVersionsOptions options_;
};

}  // namespace search::tools
