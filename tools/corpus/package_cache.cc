#include "tools/corpus/package_cache.h"

#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/corpus/child_process.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/digest.h"
#include "tools/streams/file_sink.h"

namespace search::tools {
namespace {

namespace fs = std::filesystem;
using neptune::Annotate;
using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::Unavailable;

constexpr int64_t kAptTimeMs = 20 * 60 * 1000;
constexpr int64_t kUnpackTimeMs = 10 * 60 * 1000;

Status MakeFolder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  return error ? Unavailable("creating folder ", folder, ": ", error.message()) : OkStatus();
}

StatusOr<std::string> RunOrFail(const std::vector<std::string>& arguments,
                                const ChildOptions& options, const NanosecondClock& clock) {
  NEPTUNE_ASSIGN_OR_RETURN(ChildResult result, RunChild(arguments, options, clock));
  if (result.exit_status != 0) {
    return Unavailable(arguments[0], " failed with status ", result.exit_status, ": ",
                       result.error_output.substr(0, 2000));
  }
  return std::move(result.output);
}

}  // namespace

// 'http://…/x_1_all.deb' x_1_all.deb 1234 SHA256:0123…
std::vector<PackageSource> ParsePackageUris(std::string_view output) {
  constexpr std::string_view kHash = "SHA256:";
  std::vector<PackageSource> sources;
  std::istringstream lines{std::string(output)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string uri;
    std::string hash;
    PackageSource source;
    if (!(words >> uri >> source.file_name >> source.size >> hash)) continue;
    const bool plain_name =
        source.file_name.find('/') == std::string::npos && source.file_name.ends_with(".deb");
    if (!uri.starts_with('\'') || !plain_name || !hash.starts_with(kHash)) continue;
    source.package = source.file_name.substr(0, source.file_name.find('_'));
    source.sha256 = hash.substr(kHash.size());
    sources.push_back(std::move(source));
  }
  return sources;
}

PackageCache::PackageCache(std::string folder, NanosecondClock clock,
                           std::function<void(const std::string&)> report)
    : folder_(std::move(folder)), clock_(std::move(clock)), report_(std::move(report)) {}

std::vector<std::string> PackageCache::AptGet(bool own_lists) const {
  std::vector<std::string> arguments = {"apt-get", "-q", "-o", "APT::Sandbox::User="};
  if (!own_lists) return arguments;
  for (const char* option : {"Dir::State::Lists=", "Dir::Cache="}) {
    arguments.push_back("-o");
    arguments.push_back(StrCat(option, folder_, "/apt/",
                               std::string_view(option) == "Dir::Cache=" ? "cache" : "lists"));
  }
  return arguments;
}

StatusOr<std::vector<PackageSource>> PackageCache::AskArchive(
    const std::vector<std::string>& packages, bool own_lists) {
  std::vector<std::string> arguments = AptGet(own_lists);
  arguments.insert(arguments.end(), {"download", "--print-uris"});
  arguments.insert(arguments.end(), packages.begin(), packages.end());
  const ChildOptions options{
      .folder = folder_ + "/partial", .input = {}, .time_ms_max = kAptTimeMs};
  NEPTUNE_ASSIGN_OR_RETURN(const std::string output, RunOrFail(arguments, options, clock_));
  const std::vector<PackageSource> found = ParsePackageUris(output);
  std::vector<PackageSource> sources;
  for (const std::string& package : packages) {
    for (const PackageSource& source : found) {
      if (source.package == package) sources.push_back(source);
    }
    if (sources.empty() || sources.back().package != package) {
      return neptune::NotFound("the package lists offer no verifiable file of ", package);
    }
  }
  return sources;
}

StatusOr<std::vector<PackageSource>> PackageCache::RememberedSources(
    const std::vector<std::string>& packages) const {
  std::vector<PackageSource> sources;
  for (const std::string& package : packages) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string record,
                             ReadWholeFile(StrCat(folder_, "/", package, ".source"), 4096));
    const std::vector<PackageSource> found = ParsePackageUris(record);
    if (found.empty() || !IsPresent(found[0]))
      return neptune::NotFound(package, " is not in the cache");
    sources.push_back(found[0]);
  }
  return sources;
}

Status PackageCache::UpdateOwnLists() {
  report_("this system's package lists do not contain all packages; fetching separate lists");
  NEPTUNE_RETURN_IF_ERROR(MakeFolder(folder_ + "/apt/lists/partial"));
  NEPTUNE_RETURN_IF_ERROR(MakeFolder(folder_ + "/apt/cache/archives/partial"));
  std::vector<std::string> arguments = AptGet(true);
  arguments.push_back("update");
  const ChildOptions options{.folder = "", .input = {}, .time_ms_max = kAptTimeMs};
  return RunOrFail(arguments, options, clock_).status();
}

StatusOr<std::vector<PackageSource>> PackageCache::FindSources(
    const std::vector<std::string>& packages) {
  auto sources = AskArchive(packages, false);
  if (sources.ok()) return sources;
  if (auto remembered = RememberedSources(packages); remembered.ok()) {
    report_("the archive's lists cannot be used; using the packages already downloaded");
    return remembered;
  }
  const Status updated = UpdateOwnLists();
  if (updated.ok()) {
    own_lists_ = true;
    sources = AskArchive(packages, true);
    if (sources.ok()) return sources;
  }
  return Annotate(updated.ok() ? sources.status() : updated,
                  "finding the packages (is the network up, and does /etc/apt name Debian's "
                  "archive? `apt-get update` as root may help)");
}

bool PackageCache::IsPresent(const PackageSource& source) const {
  const auto sha256 = Sha256OfFile(StrCat(folder_, "/", source.file_name));
  return sha256.ok() && *sha256 == source.sha256;
}

Status PackageCache::AdoptDownloaded(const PackageSource& source) {
  const std::string file = StrCat(folder_, "/partial/", source.file_name);
  NEPTUNE_ASSIGN_OR_RETURN(const std::string sha256, Sha256OfFile(file));
  std::error_code error;
  if (sha256 != source.sha256) {
    fs::remove(file, error);
    return neptune::DataLoss(source.file_name,
                             ": the download does not match the package list; run again");
  }
  fs::rename(file, StrCat(folder_, "/", source.file_name), error);
  if (error) return Unavailable("moving ", file, ": ", error.message());
  return WriteWholeFile(
      StrCat(folder_, "/", source.package, ".source"),
      StrCat("'' ", source.file_name, " ", source.size, " SHA256:", source.sha256, "\n"));
}

Status PackageCache::Download(const std::vector<PackageSource>& sources) {
  for (const PackageSource& source : sources) {
    if (IsPresent(source)) continue;
    report_(
        StrCat("downloading ", source.file_name, ", ", WithThousands(source.size >> 10), " KiB"));
    std::vector<std::string> arguments = AptGet(own_lists_);
    arguments.insert(arguments.end(), {"download", source.package});
    const ChildOptions options{
        .folder = folder_ + "/partial", .input = {}, .time_ms_max = kAptTimeMs};
    NEPTUNE_RETURN_IF_ERROR(RunOrFail(arguments, options, clock_).status());
    NEPTUNE_RETURN_IF_ERROR(AdoptDownloaded(source));
  }
  return OkStatus();
}

StatusOr<std::string> PackageCache::Unpack(const PackageSource& source) {
  const std::string folder = StrCat(folder_, "/unpacked/", source.file_name);
  std::error_code error;
  if (fs::is_directory(folder, error)) return folder;
  report_(StrCat("unpacking ", source.file_name));
  const std::string temporary = folder + ".partial";
  fs::remove_all(temporary, error);
  NEPTUNE_RETURN_IF_ERROR(MakeFolder(temporary));
  const ChildOptions options{.folder = "", .input = {}, .time_ms_max = kUnpackTimeMs};
  NEPTUNE_RETURN_IF_ERROR(
      RunOrFail({"dpkg-deb", "-x", StrCat(folder_, "/", source.file_name), temporary}, options,
                clock_)
          .status());
  fs::rename(temporary, folder, error);
  if (error) return Unavailable("moving ", temporary, ": ", error.message());
  return folder;
}

StatusOr<std::vector<std::string>> PackageCache::Provide(const std::vector<std::string>& packages) {
  NEPTUNE_RETURN_IF_ERROR(MakeFolder(folder_ + "/partial"));
  NEPTUNE_RETURN_IF_ERROR(MakeFolder(folder_ + "/unpacked"));
  NEPTUNE_ASSIGN_OR_RETURN(const auto sources, FindSources(packages));
  NEPTUNE_RETURN_IF_ERROR(Download(sources));
  std::vector<std::string> folders;
  for (const PackageSource& source : sources) {
    NEPTUNE_ASSIGN_OR_RETURN(folders.emplace_back(), Unpack(source));
  }
  return folders;
}

}  // namespace search::tools
