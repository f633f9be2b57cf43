// The manifest of a corpus: its packages, their folders and how pages are named.
// data/corpora/README.md explains the fields.
//
// Pure.
// Threads: pure function.
// Errors: INVALID_ARGUMENT names the place and what is wrong; unknown fields are refused.
// Limits: kManifestSizeMax bytes.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace search::tools {

inline constexpr size_t kManifestSizeMax = size_t{1} << 20;

struct ManifestRoot {
  std::string path;  // inside the package: "usr/share/doc/x/html"
  std::string as;    // put before the page's path in its url; may be empty
  std::vector<std::string> include;
  std::vector<std::string> exclude;
};

struct ManifestPackage {
  std::string package;
  std::string site;
  std::vector<ManifestRoot> roots;
  std::vector<std::string> title_suffixes;
  std::vector<std::string> public_urls;     // lead to the first root; its pages' are the first
  std::string public_root;                  // folder of the first root that they stand for
  std::string public_omits;                 // suffix of names that they lack: ".html"
  std::vector<std::string> public_exclude;  // globs of pages that are not there
};

struct Manifest {
  std::string description;
  std::vector<ManifestPackage> packages;
};

neptune::StatusOr<Manifest> ParseManifest(std::string_view json);

}  // namespace search::tools
