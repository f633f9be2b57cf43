// Fetches Debian packages into a folder and unpacks them there, without installing anything.
//
// Runs apt-get and dpkg-deb as child processes; needs no privileges.
// Threads: thread-compatible.
// Errors: kNotFound apt-get or dpkg-deb missing, unknown package; kUnavailable download failed;
//   kDataLoss a downloaded file differs from the archive's signed list. Messages say what to
//   do.
//
// The folder:
//   NAME_VERSION_ARCH.deb      verified downloads
//   NAME.source                file name and SHA-256 of the download, used when the archive is away
//   unpacked/FILE/             contents; the name appears only when unpacking is complete
//   partial/, apt/             downloads under way; package lists of our own if the system has none

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "tools/terminal/progress.h"

namespace search::tools {

// A package's file as the archive offers it.
struct PackageSource {
  std::string package;
  std::string file_name;
  uint64_t size = 0;
  std::string sha256;

  friend bool operator==(const PackageSource&, const PackageSource&) = default;
};

// Reads what `apt-get download --print-uris` prints. Other lines are skipped.
std::vector<PackageSource> ParsePackageUris(std::string_view output);

class PackageCache {
 public:
  // `report` is called with progress lines.
  PackageCache(std::string folder, NanosecondClock clock,
               std::function<void(const std::string&)> report);

  // Makes all packages present, verified and unpacked; fetches only what is missing. Returns the
  // folder of each package's contents, in order.
  neptune::StatusOr<std::vector<std::string>> Provide(const std::vector<std::string>& packages);

 private:
  neptune::StatusOr<std::vector<PackageSource>> FindSources(
      const std::vector<std::string>& packages);
  neptune::StatusOr<std::vector<PackageSource>> AskArchive(const std::vector<std::string>& packages,
                                                           bool own_lists);
  neptune::StatusOr<std::vector<PackageSource>> RememberedSources(
      const std::vector<std::string>& packages) const;
  neptune::Status UpdateOwnLists();
  neptune::Status Download(const std::vector<PackageSource>& sources);
  neptune::Status AdoptDownloaded(const PackageSource& source);
  neptune::StatusOr<std::string> Unpack(const PackageSource& source);
  bool IsPresent(const PackageSource& source) const;
  std::vector<std::string> AptGet(bool own_lists) const;

  const std::string folder_;
  const NanosecondClock clock_;
  const std::function<void(const std::string&)> report_;
  bool own_lists_ = false;
};

}  // namespace search::tools
