#include "tools/build_index/index_manifest.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/file_sink.h"

namespace search::tools {
namespace {

using neptune::DataLoss;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using nlohmann::json;
// Keeps the order of fields, for readability.
using nlohmann::ordered_json;

constexpr size_t kManifestFileSizeMax = size_t{64} << 20;

std::string PathOf(const std::string& folder) { return StrCat(folder, "/manifest.json"); }

ordered_json PartToJson(const ManifestPart& part) {
  ordered_json partitions = ordered_json::array();
  for (const ManifestPartition& partition : part.partitions) {
    partitions.push_back(
        {{"folder", partition.folder}, {"document_count", partition.document_count}});
  }
  return {{"name", part.name},
          {"implementation", part.implementation},
          {"partitions", std::move(partitions)}};
}

ManifestPart PartFromJson(const json& value) {
  ManifestPart part{
      .name = value.at("name"), .implementation = value.at("implementation"), .partitions = {}};
  for (const json& partition : value.at("partitions")) {
    part.partitions.push_back({partition.at("folder"), partition.at("document_count")});
  }
  return part;
}

IndexManifest FromJson(const json& value) {
  IndexManifest manifest;
  manifest.format_version = value.at("format_version");
  manifest.index_version = value.at("index_version");
  manifest.fingerprint = value.at("fingerprint");
  manifest.document_count = value.at("document_count");
  manifest.link_count = value.at("link_count");
  manifest.tier1_share = value.at("tier1_share");
  for (const json& part : value.at("parts")) manifest.parts.push_back(PartFromJson(part));
  for (const json& file : value.at("files")) {
    manifest.files.push_back({file.at("path"), {file.at("size"), file.at("xxh3")}});
  }
  return manifest;
}

// True if the path stays below the folder.
bool IsInside(const std::string& path) {
  if (path.empty() || path.front() == '/' || path.find('\0') != std::string::npos) return false;
  const std::filesystem::path parts(path);
  return std::none_of(parts.begin(), parts.end(),
                      [](const auto& part) { return part == ".." || part == "."; });
}

Status CheckManifest(const IndexManifest& manifest) {
  if (manifest.index_version == 0 || manifest.index_version >= (uint64_t{1} << 53)) {
    return DataLoss("index version ", manifest.index_version, " is not 1 to 2^53 - 1");
  }
  for (const ManifestPart& part : manifest.parts) {
    if (!IsInside(part.name)) return DataLoss("'", part.name, "' is not a valid part name");
    for (const ManifestPartition& partition : part.partitions) {
      if (!IsInside(partition.folder))
        return DataLoss("'", partition.folder, "' leads outside the index folder");
    }
  }
  std::set<std::string_view> paths;
  for (const OutputFile& file : manifest.files) {
    if (!IsInside(file.path)) return DataLoss("'", file.path, "' leads outside the index folder");
    if (!paths.insert(file.path).second) return DataLoss("'", file.path, "' twice");
  }
  return neptune::OkStatus();
}

}  // namespace

Status WriteIndexManifest(const std::string& folder, const IndexManifest& manifest) {
  ordered_json value = {{"format_version", manifest.format_version},
                        {"index_version", manifest.index_version},
                        {"fingerprint", manifest.fingerprint},
                        {"document_count", manifest.document_count},
                        {"link_count", manifest.link_count},
                        {"tier1_share", manifest.tier1_share},
                        {"parts", ordered_json::array()},
                        {"files", ordered_json::array()}};
  for (const ManifestPart& part : manifest.parts) value["parts"].push_back(PartToJson(part));
  for (const OutputFile& file : manifest.files) {
    value["files"].push_back(
        {{"path", file.path}, {"size", file.digest.size}, {"xxh3", file.digest.xxh3}});
  }
  return WriteWholeFile(PathOf(folder), value.dump(1) + "\n");
}

StatusOr<IndexManifest> ParseIndexManifest(std::string_view text) {
  try {
    IndexManifest manifest = FromJson(json::parse(text));
    if (manifest.format_version != kIndexFormatVersion) {
      return DataLoss("format version ", manifest.format_version, ", known is ",
                      kIndexFormatVersion, "; build the index again");
    }
    NEPTUNE_RETURN_IF_ERROR(CheckManifest(manifest));
    return manifest;
  } catch (const json::exception& error) {
    return DataLoss(error.what());
  }
}

StatusOr<IndexManifest> ReadIndexManifest(const std::string& folder) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string text,
                           ReadWholeFile(PathOf(folder), kManifestFileSizeMax));
  auto manifest = ParseIndexManifest(text);
  return manifest.ok() ? std::move(manifest) : neptune::Annotate(manifest.status(), PathOf(folder));
}

Status VerifyIndexFiles(const std::string& folder, const IndexManifest& manifest) {
  for (const OutputFile& file : manifest.files) {
    const std::string path = StrCat(folder, "/", file.path);
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (error) return DataLoss(path, " is missing: ", error.message());
    if (size != file.digest.size) {
      return DataLoss(path, " has ", size, " bytes of ", file.digest.size,
                      "; was it copied completely?");
    }
    const auto digest = DigestFile(path);
    if (!digest.ok()) return DataLoss(path, ": ", neptune::ToStd(digest.status().message()));
    if (!(*digest == file.digest)) {
      return DataLoss(path, " has another checksum than when it was built; build the index again");
    }
  }
  return neptune::OkStatus();
}

}  // namespace search::tools
