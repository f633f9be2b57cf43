// The synonyms of each index version that a frontend may ask, so that it switches to a version and
// its synonyms at once.
//
// Every version keeps its file of synonyms in its folder, as tools/build_index puts it there. Those
// of all listed versions are read when the list changes, long before one of them becomes current:
// tools/publish waits until they are.
//
// Threads: thread-compatible; the sets themselves are immutable.
// Errors: INVALID_ARGUMENT with the path for a file that holds no sets, UNAVAILABLE for one that
//   cannot be read. A file that is not there means that words have no synonyms.
// Limits: index::kSynonymFileSizeMax for each file; as many sets as versions are listed.

#pragma once

#include <map>
#include <memory>
#include <string>

#include "index/core/query/synonyms.h"
#include "index/versions/version_list.h"
#include "neptune/base/status.h"

namespace search::frontend {

class VersionSynonyms {
 public:
  // `folder`: base of relative paths; `file`: path of the file in the folder of a version, empty:
  // words have no synonyms.
  VersionSynonyms(std::string folder, std::string file)
      : folder_(std::move(folder)), file_(std::move(file)) {}

  // Reads the file of a cluster without a list of versions.
  neptune::StatusOr<std::shared_ptr<const index::SynonymSets>> ReadOnly() const;

  // Reads the files of versions that are new in the list and forgets those of versions that are
  // gone. After an error all other files have been read, and the next call tries again.
  neptune::Status Follow(const index::VersionList& list);
  // Null: the words have no synonyms, or the file could not be read.
  std::shared_ptr<const index::SynonymSets> Of(const index::IndexVersion& version) const;

 private:
  neptune::StatusOr<std::shared_ptr<const index::SynonymSets>> Read(
      const std::string& version_folder) const;

  const std::string folder_;
  const std::string file_;
  // Keyed by the name of the version, which is never used for another one.
  std::map<std::string, std::shared_ptr<const index::SynonymSets>> sets_;
};

}  // namespace search::frontend
