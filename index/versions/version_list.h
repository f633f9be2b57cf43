// Which versions of the index a cluster keeps at hand, and which of them is asked: the one thing that is changed when a
// version is published. The file is the same for all nodes; each of them looks at it again and again.
//
//   {"format_version": 1, "change": 7, "current": "tuesday", "previous": "monday",
//    "versions": [{"name": "monday", "folder": ".", "index_version": 5134287053075868},
//                 {"name": "tuesday", "folder": "/srv/index/tuesday", "index_version": 7001287053075001}]}
//
// Folders are relative to the one that paths of the cluster spec start from. Index services keep all versions open; a
// frontend asks all of them for the current one by its number, so that no answer is of two.
//
// TensorFlow Serving's rule, load the new before the old is let go. Text in,
// values out.
// Threads: plain values and pure functions.
// Errors: DATA_LOSS no such text, with the reason; of changes INVALID_ARGUMENT, NOT_FOUND and FAILED_PRECONDITION.
// Limits: kVersionCountMax versions, names of 1 to 64 letters, digits, '.', '_' and '-', kVersionListSizeMax bytes.
// Recovery: the file is replaced whole; every step of a publication leaves a list that can be served.

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
  uint64_t index_version = 0;  // as its partitions know it; never 0
  friend bool operator==(const IndexVersion&, const IndexVersion&) = default;
};

struct VersionList {
  uint64_t change = 0;   // grows with every change of the list
  std::string current;   // name; always one of the versions
  std::string previous;  // the one before, to go back to; may be empty
  std::vector<IndexVersion> versions;
  friend bool operator==(const VersionList&, const VersionList&) = default;

  const IndexVersion* Find(std::string_view name) const;
  // REQUIRES: the list was parsed or made here.
  const IndexVersion& Current() const { return *Find(current); }
};

neptune::StatusOr<VersionList> ParseVersionList(std::string_view text);
std::string VersionListJson(const VersionList& list);

// The list of a cluster that serves nothing but `only`.
neptune::StatusOr<VersionList> FirstVersionList(const IndexVersion& only);

// Each gives the next list; the one that is in use stays so unless MakeCurrent or RollBack say otherwise.
// Adding what is there already, under the same name and number, changes nothing.
neptune::StatusOr<VersionList> AddVersion(VersionList list, const IndexVersion& version);
// Making current what is current changes nothing.
neptune::StatusOr<VersionList> MakeCurrent(VersionList list, std::string_view name);
// Back to the previous one, which the current one then is: a second call goes forward again.
neptune::StatusOr<VersionList> RollBack(VersionList list);
// Never the current one.
neptune::StatusOr<VersionList> RemoveVersion(VersionList list, std::string_view name);
// The versions, oldest first, that are too many if `count` are kept: neither the current one nor the previous one.
std::vector<std::string> Superfluous(const VersionList& list, size_t count);

}  // namespace search::index
