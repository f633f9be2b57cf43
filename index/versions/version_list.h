// The versions of the index that a cluster keeps open, and the current one that is searched: the
// only data that change when a version is published. The file is the same for all nodes; each of
// them polls it.
//
//   {"format_version": 1, "change": 7, "current": "tuesday", "previous": "monday",
//    "versions": [
//      {"name": "monday", "folder": ".", "index_version": 5134287053075868},
//      {"name": "tuesday", "folder": "/srv/index/tuesday", "index_version": 7001287053075001}]}
//
// Folders are relative to the directory that paths of the cluster spec are relative to. Index
// services keep all versions open; a frontend asks all of them for the current one by its number,
// so that no answer mixes two versions.
//
// The rule is that of TensorFlow Serving: load the new version before unloading the old one.
// Threads: plain values and pure functions.
// Errors: DATA_LOSS for malformed text, with the reason; of changes INVALID_ARGUMENT, NOT_FOUND and
//   FAILED_PRECONDITION.
// Limits: kVersionCountMax versions, names of 1 to 64 letters, digits, '.', '_' and '-',
//   kVersionListSizeMax bytes.
// Recovery: the file is replaced atomically; every step of a publication leaves a list that can be
// served.

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
  uint64_t index_version = 0;  // number in the version's partitions; never 0
  friend bool operator==(const IndexVersion&, const IndexVersion&) = default;
};

struct VersionList {
  uint64_t change = 0;   // incremented by every change of the list
  std::string current;   // name; always one of the versions
  std::string previous;  // version for a rollback; may be empty
  std::vector<IndexVersion> versions;
  friend bool operator==(const VersionList&, const VersionList&) = default;

  const IndexVersion* Find(std::string_view name) const;
  // REQUIRES: the list was parsed or returned by a function of this header.
  const IndexVersion& Current() const { return *Find(current); }
};

neptune::StatusOr<VersionList> ParseVersionList(std::string_view text);
std::string VersionListJson(const VersionList& list);

// The list of a cluster that serves only `only`.
neptune::StatusOr<VersionList> FirstVersionList(const IndexVersion& only);

// Each returns the next list; only MakeCurrent and RollBack change the current version. Adding a
// version that is already in the list with the same name and number has no effect.
neptune::StatusOr<VersionList> AddVersion(VersionList list, const IndexVersion& version);
// Has no effect if the version is already current.
neptune::StatusOr<VersionList> MakeCurrent(VersionList list, std::string_view name);
// Makes the previous version current, and the current one previous: a second call undoes the first.
neptune::StatusOr<VersionList> RollBack(VersionList list);
// Removes a version. Errors: FAILED_PRECONDITION for the current one.
neptune::StatusOr<VersionList> RemoveVersion(VersionList list, std::string_view name);
// The versions, oldest first, to remove if `count` are kept: neither the current nor the previous
// one.
std::vector<std::string> Superfluous(const VersionList& list, size_t count);

}  // namespace search::index
