#include "frontend/http/version_synonyms.h"

#include <glog/logging.h>

#include <filesystem>
#include <utility>

#include "neptune/base/file.h"

namespace search::frontend {

using index::SynonymSets;
using neptune::Status;
using neptune::StatusOr;

using SharedSets = std::shared_ptr<const SynonymSets>;

StatusOr<SharedSets> VersionSynonyms::ReadOnly() const { return Read("."); }

Status VersionSynonyms::Follow(const index::VersionList& list) {
  Status first_error;
  std::map<std::string, SharedSets> sets;
  for (const index::IndexVersion& version : list.versions) {
    const auto known = sets_.find(version.name);
    if (known != sets_.end()) {
      sets.insert(*known);
      continue;
    }
    StatusOr<SharedSets> read = Read(version.folder);
    if (read.ok()) {
      sets[version.name] = *std::move(read);
    } else if (first_error.ok()) {
      first_error = read.status();
    }
  }
  sets_ = std::move(sets);
  return first_error;
}

SharedSets VersionSynonyms::Of(const index::IndexVersion& version) const {
  const auto found = sets_.find(version.name);
  return found == sets_.end() ? nullptr : found->second;
}

StatusOr<SharedSets> VersionSynonyms::Read(const std::string& version_folder) const {
  if (file_.empty()) return SharedSets();
  const std::string path = (std::filesystem::path(folder_) / version_folder / file_).string();
  const StatusOr<std::string> text = neptune::ReadFile(path, index::kSynonymFileSizeMax);
  if (text.status().code() == neptune::StatusCode::kNotFound) {
    LOG(INFO) << "there is no " << path << ": words have no synonyms";
    return SharedSets();
  }
  NEPTUNE_RETURN_IF_ERROR(text.status());
  StatusOr<SynonymSets> sets = SynonymSets::Parse(*text);
  if (!sets.ok()) return neptune::Annotate(sets.status(), path);
  return std::make_shared<const SynonymSets>(*std::move(sets));
}

}  // namespace search::frontend
