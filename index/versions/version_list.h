// The versions of the index that a cluster keeps open, and which of them is current: publishing a
// version changes only this file. The file is the same for all nodes; each node polls it.
//
//   {"format_version": 1, "change": 7, "current": "tuesday", "previous": "monday",
//    "versions": [
//      {"name": "monday", "folder": ".", "index_version": 5134287053075868},
//      {"name": "tuesday", "folder": "/srv/index/tuesday", "index_version": 7001287053075001}]}
//
// Folders are relative to the base of the cluster spec's paths. Index services keep all versions
// open; a frontend sends the number of the current version to all of them, so that no answer mixes
// two versions.
//
// Like in TensorFlow Serving, a new version is loaded before the old one is unloaded.
// Threads: plain values and pure functions.
// Errors: DATA_LOSS with the reason for malformed text; changes return INVALID_ARGUMENT, NOT_FOUND
//   and FAILED_PRECONDITION.
// Limits: kVersionCountMax versions, names of 1 to 64 letters, digits, '.', '_' and '-',
//   kVersionListSizeMax bytes.
// Recovery: the file is replaced atomically; every step of a publication leaves a list that can be
//   served.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace search::index {

inline constexpr size_t kVersionCountMax = 16;
inline constexpr size_t kVersionListSizeMax = size_t{64} << 10;

struct IndexVersion {
  std::string name;
  std::string folder;
  uint64_t index_version = 0;  // number stored in its partitions; never 0
  friend bool operator==(const IndexVersion&, const IndexVersion&) = default;
};

struct VersionList {
  uint64_t change = 0;   // incremented by every change of the list
  std::string current;   // name; always one of the versions
  std::string previous;  // version for a rollback; may be empty
  std::vector<IndexVersion> versions;
  friend bool operator==(const VersionList&, const VersionList&) = default;

  const IndexVersion* Find(std::string_view name) const;
  // REQUIRES: the list came from a function of this file.
  const IndexVersion& Current() const { return *Find(current); }
};

neptune::StatusOr<VersionList> ParseVersionList(std::string_view text);
std::string VersionListJson(const VersionList& list);

// The list of a cluster that serves only `only`.
neptune::StatusOr<VersionList> FirstVersionList(const IndexVersion& only);

// Each returns the next list. Only MakeCurrent and RollBack change the current version. Adding a
// version that is already listed under the same name and number changes nothing.
neptune::StatusOr<VersionList> AddVersion(VersionList list, const IndexVersion& version);
// Has no effect if the version is already current.
neptune::StatusOr<VersionList> MakeCurrent(VersionList list, std::string_view name);
// Makes the previous version current and the current one previous: a second call undoes the first.
neptune::StatusOr<VersionList> RollBack(VersionList list);
// Removes a version. Errors: FAILED_PRECONDITION for the current one.
neptune::StatusOr<VersionList> RemoveVersion(VersionList list, std::string_view name);
// The oldest versions to remove if `count` are kept, oldest first; never the current or the
// previous one.
std::vector<std::string> Superfluous(const VersionList& list, size_t count);

}  // namespace search::index
