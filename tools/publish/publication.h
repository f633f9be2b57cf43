// Brings a version of the index into service in a running cluster, and takes it back.
//
//   list + version ─► every running node has all of it open? ─► list: it is the current one ─► every frontend asks for it
//                        │ no: the list without it, and why
//
// Every step is one replacement of the list; a crash between two leaves a cluster that serves one
// version, and the same command continues.
//
// the steps are policy over VersionHost.
// Threads: one; blocks it.
// Errors: those of version_list.h and of the host; DEADLINE_EXCEEDED a node has not taken the list
//   up, with what it says.

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
  // Absent: there is none yet.
  virtual neptune::StatusOr<std::optional<index::VersionList>> Load() = 0;
  virtual neptune::Status Store(const index::VersionList& list) = 0;
  // Until every running node serves what the list says, whole.
  virtual neptune::Status Await(const index::VersionList& list) = 0;
};

struct PublishOrder {
  index::IndexVersion version;
  // What the cluster serves while there is no list; absent: nothing.
  std::optional<index::IndexVersion> base;
  // Number of versions to keep; beyond it the oldest are released, but never the current or the
  // previous one.
  size_t keep_count = 3;
};

// The list that holds in the end. OK also if the version was the current one already.
neptune::StatusOr<index::VersionList> Publish(const PublishOrder& order, VersionHost& host);
neptune::StatusOr<index::VersionList> GoBack(VersionHost& host);
neptune::StatusOr<index::VersionList> Remove(const std::string& name, VersionHost& host);

}  // namespace search::tools
