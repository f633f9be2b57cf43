#include "tools/build_index/build_journal.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/file_sink.h"

namespace search::tools {
namespace {

namespace fs = std::filesystem;
using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::Unavailable;
using nlohmann::json;

constexpr size_t kJournalFileSizeMax = size_t{64} << 20;
constexpr std::string_view kBuildFolder = ".build";
constexpr std::string_view kManifest = "manifest.json";

bool IsBuildOutput(const std::string& name) {
  return name == kBuildFolder || name.starts_with("tier") || name.starts_with("docs");
}

// Names that a build creates in an index folder. The manifest is removed first, so that a partially
// removed index does not look complete.
Status RemoveIndex(const fs::path& folder) {
  std::error_code error;
  fs::remove(folder / kManifest, error);
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!IsBuildOutput(entry.path().filename().string())) continue;
    fs::remove_all(entry.path(), error);
    if (error) return Unavailable("removing ", entry.path().string(), ": ", error.message());
  }
  return error ? Unavailable("listing ", folder.string(), ": ", error.message()) : OkStatus();
}

bool IsOurs(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / kBuildFolder / "plan", error)) return true;
  const auto manifest = ReadWholeFile((folder / kManifest).string(), kJournalFileSizeMax);
  return manifest.ok() && manifest->find("\"index_version\"") != std::string::npos;
}

}  // namespace

StatusOr<BuildJournal> BuildJournal::Open(const std::string& folder,
                                          const std::string& fingerprint) {
  BuildJournal journal(folder);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Unavailable("creating ", folder, ": ", error.message());
  const std::string plan = journal.BuildPath("plan");
  const auto found = ReadWholeFile(plan, 4096);
  if (found.ok() && *found == fingerprint) return journal;
  if (!fs::is_empty(folder, error) && !IsOurs(folder)) {
    return neptune::FailedPrecondition(
        folder, " contains files that are not an index; give an empty or new folder");
  }
  NEPTUNE_RETURN_IF_ERROR(RemoveIndex(folder));
  NEPTUNE_RETURN_IF_ERROR(WriteWholeFile(plan, fingerprint));
  return journal;
}

std::string BuildJournal::IndexPath(std::string_view path) const {
  return StrCat(folder_, "/", path);
}

std::string BuildJournal::BuildPath(std::string_view path) const {
  return StrCat(folder_, "/", kBuildFolder, "/", path);
}

StatusOr<std::vector<OutputFile>> BuildJournal::Digest(
    const std::vector<std::string>& outputs) const {
  std::vector<std::string> paths;
  for (const std::string& output : outputs) {
    const fs::path path = IndexPath(output);
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      paths.push_back(output);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
      if (entry.is_regular_file(error)) {
        paths.push_back(entry.path().lexically_relative(folder_).string());
      }
    }
    if (error) return Unavailable("listing ", path.string(), ": ", error.message());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<OutputFile> files;
  for (const std::string& path : paths) {
    NEPTUNE_ASSIGN_OR_RETURN(FileDigest digest, DigestFile(IndexPath(path)));
    files.push_back({path, std::move(digest)});
  }
  return files;
}

bool BuildJournal::IsFinished(const std::string& stage, Facts* facts) const {
  const auto text = ReadWholeFile(BuildPath(StrCat("done/", stage, ".json")), kJournalFileSizeMax);
  if (!text.ok()) return false;
  const json marker = json::parse(*text, nullptr, false);
  if (!marker.is_object() || !marker.contains("outputs") || !marker.contains("facts")) return false;
  for (const json& output : marker["outputs"]) {
    const auto digest = DigestFile(IndexPath(output.value("path", "")));
    if (!digest.ok() || digest->size != output.value("size", uint64_t{0}) ||
        digest->xxh3 != output.value("xxh3", "")) {
      return false;
    }
  }
  facts->clear();
  for (const auto& [name, value] : marker["facts"].items()) {
    if (value.is_number_unsigned()) facts->emplace_back(name, value.get<uint64_t>());
  }
  return true;
}

Status BuildJournal::Finish(const std::string& stage, const std::vector<std::string>& outputs,
                            const Facts& facts) const {
  NEPTUNE_ASSIGN_OR_RETURN(const auto files, Digest(outputs));
  json marker = {{"stage", stage}, {"outputs", json::array()}, {"facts", json::object()}};
  for (const OutputFile& file : files) {
    marker["outputs"].push_back(
        {{"path", file.path}, {"size", file.digest.size}, {"xxh3", file.digest.xxh3}});
  }
  for (const auto& [name, value] : facts) marker["facts"][name] = value;
  return WriteWholeFile(BuildPath(StrCat("done/", stage, ".json")), marker.dump(1) + "\n");
}

Status BuildJournal::Remove() const {
  std::error_code error;
  fs::remove_all(BuildPath(""), error);
  return error ? Unavailable("removing ", BuildPath(""), ": ", error.message()) : OkStatus();
}

uint64_t FactOf(const BuildJournal::Facts& facts, std::string_view name) {
  for (const auto& [key, value] : facts) {
    if (key == name) return value;
  }
  return 0;
}

}  // namespace search::tools
