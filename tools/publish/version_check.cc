#include "tools/publish/version_check.h"

#include <algorithm>
#include <map>

#include "index/core/query/synonyms.h"
#include "index/tier/registry.h"
#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "tools/build_index/build_options.h"

namespace search::tools {
namespace {

using neptune::DataLoss;
using neptune::FailedPrecondition;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

using Parameters = std::map<std::string, std::string>;

bool IsTier(const ManifestPart& part) { return part.name.starts_with("tier"); }

Status CheckSeal(const std::string& folder, const ManifestPart& part,
                 const IndexManifest& manifest) {
  const auto seal = index::ReadTierFolder(folder);
  if (!seal.ok()) return DataLoss(folder, ": ", neptune::ToStd(seal.status().message()));
  if (seal->implementation != part.implementation) {
    return DataLoss(folder, " was built for '", seal->implementation, "', the manifest says '",
                    part.implementation, "'");
  }
  if (seal->index_version == manifest.index_version) return neptune::OkStatus();
  return DataLoss(folder, " has version ", seal->index_version, ", the manifest says ",
                  manifest.index_version);
}

template <typename Visit>
Status ForEachHosted(const neptune::ClusterSpec& spec, const Visit& visit) {
  for (const neptune::NodeSpec& node : spec.nodes()) {
    for (const neptune::HostedServiceSpec& hosted : node.hosts()) {
      NEPTUNE_RETURN_IF_ERROR(visit(node, hosted, neptune::EffectiveParameters(spec, hosted)));
    }
  }
  return neptune::OkStatus();
}

std::string Of(const Parameters& parameters, const std::string& key) {
  const auto found = parameters.find(key);
  return found == parameters.end() ? "" : found->second;
}

Status CheckHosted(const std::string& service, const Parameters& parameters,
                   uint32_t partition_count, const IndexManifest& manifest) {
  const std::string path = Of(parameters, "path");
  if (path.empty()) return neptune::OkStatus();  // a frontend
  const auto part =
      std::find_if(manifest.parts.begin(), manifest.parts.end(),
                   [&](const ManifestPart& candidate) { return candidate.name == path; });
  if (part == manifest.parts.end()) {
    return FailedPrecondition("the version has no '", path, "', which service '", service,
                              "' serves");
  }
  if (part->partitions.size() != partition_count) {
    return FailedPrecondition("the version has ", part->partitions.size(), " partitions of '", path,
                              "', the cluster ", partition_count,
                              "; build it with this number (--partitions, --doc_partitions)");
  }
  const std::string wanted = Of(parameters, "implementation");
  if (wanted.empty() || wanted == part->implementation) return neptune::OkStatus();
  return FailedPrecondition("the version's '", path, "' is built for '", part->implementation,
                            "', service '", service, "' runs '", wanted, "'");
}

// Frontends need the file of synonyms, if there is one.
Status CheckSynonyms(const std::string& folder) {
  const std::string path = StrCat(folder, "/", kSynonymsName);
  const StatusOr<std::string> text = neptune::ReadFile(path, index::kSynonymFileSizeMax);
  if (text.status().code() == neptune::StatusCode::kNotFound) return neptune::OkStatus();
  if (!text.ok()) return DataLoss(path, ": ", neptune::ToStd(text.status().message()));
  const Status parsed = index::SynonymSets::Parse(*text).status();
  if (parsed.ok()) return parsed;
  return DataLoss(path, ": ", neptune::ToStd(parsed.message()));
}

}  // namespace

StatusOr<IndexManifest> CheckVersionFolder(const std::string& folder) {
  NEPTUNE_ASSIGN_OR_RETURN(IndexManifest manifest, ReadIndexManifest(folder));
  NEPTUNE_RETURN_IF_ERROR(VerifyIndexFiles(folder, manifest));
  NEPTUNE_RETURN_IF_ERROR(CheckSynonyms(folder));
  for (const ManifestPart& part : manifest.parts) {
    if (!IsTier(part)) continue;
    for (const ManifestPartition& partition : part.partitions) {
      NEPTUNE_RETURN_IF_ERROR(CheckSeal(StrCat(folder, "/", partition.folder), part, manifest));
    }
  }
  return manifest;
}

StatusOr<VersionedCluster> VersionsOf(const neptune::ClusterSpec& spec) {
  VersionedCluster cluster;
  std::map<std::string, std::set<std::string>> nodes;
  NEPTUNE_RETURN_IF_ERROR(ForEachHosted(
      spec, [&](const auto& node, const auto& hosted, const Parameters& parameters) -> Status {
        for (const char* key : {"live_path", "live", "documents_change"}) {
          const std::string value = Of(parameters, key);
          if (value.empty() || value == "false") continue;
          return FailedPrecondition(
              "documents of this cluster change (parameter ", key, " of ", hosted.service(),
              "): changes belong to the index they were made on and would be lost, so "
              "versions cannot be published; make the changes through the frontend");
        }
        const std::string list = Of(parameters, "versions");
        if (list.empty()) {
          if (Of(parameters, "path").empty()) return neptune::OkStatus();
          return FailedPrecondition("service '", hosted.service(), "' on ", node.name(),
                                    " serves one version of the index only: it has no parameter "
                                    "'versions'");
        }
        if (!cluster.list.empty() && cluster.list != list) {
          return FailedPrecondition("services have different lists of versions: ", cluster.list,
                                    ", ", list);
        }
        cluster.list = list;
        nodes[hosted.service()].insert(node.name());
        return neptune::OkStatus();
      }));
  if (cluster.list.empty()) {
    return FailedPrecondition("no service of the cluster has the parameter 'versions'");
  }
  for (auto& [service, on] : nodes) cluster.services.push_back({service, std::move(on)});
  return cluster;
}

Status FitsCluster(const IndexManifest& manifest, const neptune::ClusterSpec& spec) {
  return ForEachHosted(spec, [&](const auto&, const auto& hosted, const Parameters& parameters) {
    const neptune::ServiceSpec* const service = neptune::FindService(spec, hosted.service());
    return CheckHosted(hosted.service(), parameters, service->partition_count(), manifest);
  });
}

}  // namespace search::tools
