#include "tools/corpus/manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "index/html/document_structure.h"

namespace search::tools {
namespace {

using neptune::Annotate;
using neptune::InvalidArgument;
using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;
using nlohmann::json;

Status ParseString(const json& value, std::string* out) {
  if (!value.is_string()) return InvalidArgument("is not a string");
  *out = value.get<std::string>();
  return OkStatus();
}

Status ParseStrings(const json& value, std::vector<std::string>* out) {
  if (!value.is_array()) return InvalidArgument("is not a list");
  for (const json& element : value) {
    if (!element.is_string()) return InvalidArgument("has an element that is not a string");
    out->push_back(element.get<std::string>());
  }
  return OkStatus();
}

// Debian's rule for names of packages; it also keeps names harmless on a command line.
bool IsPackageName(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  };
  return name.size() >= 2 && name[0] != '-' && name[0] != '+' && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), fits);
}

bool IsInnerPath(std::string_view path) {
  return !path.empty() && path[0] != '/' && path.find("..") == std::string_view::npos;
}

Status ParseRootField(const std::string& key, const json& value, ManifestRoot* root) {
  if (key == "path") return ParseString(value, &root->path);
  if (key == "as") return ParseString(value, &root->as);
  if (key == "include") return ParseStrings(value, &root->include);
  if (key == "exclude") return ParseStrings(value, &root->exclude);
  return InvalidArgument("is not a known field");
}

Status ParseRoots(const json& value, std::vector<ManifestRoot>* roots) {
  if (!value.is_array() || value.empty()) return InvalidArgument("is not a list of folders");
  for (const json& element : value) {
    if (!element.is_object()) return InvalidArgument("has an element that is not an object");
    ManifestRoot root;
    for (const auto& [key, field] : element.items()) {
      NEPTUNE_RETURN_IF_ERROR(Annotate(ParseRootField(key, field, &root), key));
    }
    if (!IsInnerPath(root.path)) return InvalidArgument("has no relative 'path' without '..'");
    roots->push_back(std::move(root));
  }
  return OkStatus();
}

Status ParsePackageField(const std::string& key, const json& value, ManifestPackage* package) {
  if (key == "package") return ParseString(value, &package->package);
  if (key == "site") return ParseString(value, &package->site);
  if (key == "roots") return ParseRoots(value, &package->roots);
  if (key == "title_suffixes") return ParseStrings(value, &package->title_suffixes);
  if (key == "public_urls") return ParseStrings(value, &package->public_urls);
  if (key == "public_root") return ParseString(value, &package->public_root);
  if (key == "public_omits") return ParseString(value, &package->public_omits);
  if (key == "public_exclude") return ParseStrings(value, &package->public_exclude);
  return InvalidArgument("is not a known field");
}

StatusOr<ManifestPackage> ParsePackage(const json& value) {
  if (!value.is_object()) return InvalidArgument("is not an object");
  ManifestPackage package;
  for (const auto& [key, field] : value.items()) {
    NEPTUNE_RETURN_IF_ERROR(Annotate(ParsePackageField(key, field, &package), key));
  }
  if (!IsPackageName(package.package)) return InvalidArgument("'package' is not a package's name");
  if (package.site.empty()) return InvalidArgument("'site' is missing");
  if (package.roots.empty()) return InvalidArgument("'roots' is missing");
  if (!package.public_root.empty() && !IsInnerPath(package.public_root)) {
    return InvalidArgument("'public_root' is not a relative path without '..'");
  }
  for (const std::string& url : package.public_urls) {
    if (!html::IsWebTarget(url) || !html::IsStructureTarget(url) || !url.ends_with('/')) {
      return InvalidArgument("'public_urls' has '", url, "', which is not an address of a folder");
    }
  }
  return package;
}

Status ParsePackages(const json& value, Manifest* manifest) {
  if (!value.is_array() || value.empty())
    return InvalidArgument("packages: not a list with entries");
  std::set<std::string> names;
  for (size_t i = 0; i < value.size(); ++i) {
    auto package = ParsePackage(value[i]);
    if (!package.ok()) return Annotate(package.status(), neptune::StrCat("packages[", i, "]"));
    if (!names.insert(package->package).second) {
      return InvalidArgument("packages[", i, "]: ", package->package, " is listed twice");
    }
    manifest->packages.push_back(*std::move(package));
  }
  return OkStatus();
}

}  // namespace

StatusOr<Manifest> ParseManifest(std::string_view text) {
  if (text.size() > kManifestSizeMax) return InvalidArgument("the manifest is too large");
  json parsed;
  try {
    parsed = json::parse(text);
  } catch (const json::parse_error& error) {
    return InvalidArgument("not JSON: ", error.what());
  }
  if (!parsed.is_object()) return InvalidArgument("not a JSON object");
  Manifest manifest;
  for (const auto& [key, value] : parsed.items()) {
    if (key == "description") {
      NEPTUNE_RETURN_IF_ERROR(Annotate(ParseString(value, &manifest.description), key));
    } else if (key == "packages") {
      NEPTUNE_RETURN_IF_ERROR(ParsePackages(value, &manifest));
    } else {
      return InvalidArgument(key, ": is not a known field");
    }
  }
  if (manifest.packages.empty()) return InvalidArgument("'packages' is missing");
  return manifest;
}

}  // namespace search::tools
