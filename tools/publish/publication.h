// Brings a version of the index into service in a running cluster, and rolls it back.
//
//   list + version ─► every running node has all of it open? ─► list: it is the current one ─► every frontend asks for it
//                        │ no: the list without it, and why
//
// Every step is one replacement of the list; a crash between two leaves a cluster that serves one
// version, and the same command continues.
//
// VersionHost does the I/O; this file has the policy only.
// Threads: one; blocks it.
// Errors: those of version_list.h and of the host; DEADLINE_EXCEEDED a node has not loaded the list
//   in time, with its report.

#pragma once

#include <optional>
#include <string>

#include "index/versions/version_list.h"
#include "neptune/base/status.h"

namespace search::tools {

// The cluster in which versions change.
class VersionHost {
 public:
  virtual ~VersionHost() = default;
  // Returns nothing if there is no list yet.
  virtual neptune::StatusOr<std::optional<index::VersionList>> Load() = 0;
  virtual neptune::Status Store(const index::VersionList& list) = 0;
  // Waits until every running node has loaded all versions of the list.
  virtual neptune::Status Await(const index::VersionList& list) = 0;
};

struct PublishOrder {
  index::IndexVersion version;
  // Version served while there is no list; unset: none.
  std::optional<index::IndexVersion> base;
  // Number of versions to keep; beyond it the oldest are released, but never the current or the
  // previous one.
  size_t keep_count = 3;
};

// Returns the resulting list. OK also if the version is already the current one.
neptune::StatusOr<index::VersionList> Publish(const PublishOrder& order, VersionHost& host);
neptune::StatusOr<index::VersionList> GoBack(VersionHost& host);
neptune::StatusOr<index::VersionList> Remove(const std::string& name, VersionHost& host);

}  // namespace search::tools
