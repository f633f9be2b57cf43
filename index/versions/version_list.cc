#include "index/versions/version_list.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "neptune/base/strings.h"

namespace search::index {
namespace {

using neptune::DataLoss;
using neptune::FailedPrecondition;
using neptune::InvalidArgument;
using neptune::NotFound;
using neptune::Status;
using neptune::StatusOr;
using Json = nlohmann::ordered_json;

constexpr uint32_t kFormatVersion = 1;
constexpr size_t kNameSizeMax = 64;
constexpr size_t kFolderSizeMax = 1024;

bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= kNameSizeMax && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
         });
}

Status CheckVersion(const IndexVersion& version) {
  if (!IsName(version.name)) {
    return InvalidArgument("'", version.name, "' is not a valid version name: 1 to ", kNameSizeMax,
                           " letters, digits, '.', '_' and '-', not with '.' at the front");
  }
  if (version.folder.empty() || version.folder.size() > kFolderSizeMax) {
    return InvalidArgument("version '", version.name, "' has no folder");
  }
  if (version.index_version == 0) {
    return InvalidArgument("version '", version.name, "' has no number");
  }
  return neptune::OkStatus();
}

Status CheckList(const VersionList& list) {
  if (list.versions.size() > kVersionCountMax) {
    return FailedPrecondition("more than ", kVersionCountMax, " versions; remove old ones");
  }
  std::set<std::string> names;
  std::set<uint64_t> numbers;
  for (const IndexVersion& version : list.versions) {
    NEPTUNE_RETURN_IF_ERROR(CheckVersion(version));
    if (!names.insert(version.name).second) {
      return InvalidArgument("version '", version.name, "' is listed twice");
    }
    if (!numbers.insert(version.index_version).second) {
      return InvalidArgument("version '", version.name,
                             "' has the same contents as another one: ", version.index_version);
    }
  }
  if (!names.contains(list.current)) {
    return InvalidArgument("the current version '", list.current, "' is not in the list");
  }
  if (!list.previous.empty() && (!names.contains(list.previous) || list.previous == list.current)) {
    return InvalidArgument("'", list.previous, "' cannot be the previous version");
  }
  return neptune::OkStatus();
}

VersionList ListOf(const Json& json) {
  VersionList list;
  list.change = json.at("change");
  list.current = json.at("current");
  list.previous = json.at("previous");
  for (const Json& one : json.at("versions")) {
    list.versions.push_back({one.at("name"), one.at("folder"), one.at("index_version")});
  }
  return list;
}

StatusOr<VersionList> Changed(VersionList list) {
  ++list.change;
  NEPTUNE_RETURN_IF_ERROR(CheckList(list));
  return list;
}

Status NoSuch(std::string_view name) {
  return NotFound("there is no version '", name, "'; --list shows them");
}

}  // namespace

const IndexVersion* VersionList::Find(std::string_view name) const {
  const auto found =
      std::find_if(versions.begin(), versions.end(), [&](const auto& v) { return v.name == name; });
  return found == versions.end() ? nullptr : &*found;
}

StatusOr<VersionList> ParseVersionList(std::string_view text) {
  if (text.size() > kVersionListSizeMax)
    return DataLoss("more than ", kVersionListSizeMax, " bytes");
  try {
    const Json json = Json::parse(text);
    if (json.at("format_version") != kFormatVersion) {
      return DataLoss("format version ", json.at("format_version").dump(), ", supported is ",
                      kFormatVersion);
    }
    VersionList list = ListOf(json);
    const Status status = CheckList(list);
    if (!status.ok()) return DataLoss(status.message());
    return list;
  } catch (const Json::exception& error) {
    return DataLoss(error.what());
  }
}

std::string VersionListJson(const VersionList& list) {
  Json versions = Json::array();
  for (const IndexVersion& version : list.versions) {
    versions.push_back({{"name", version.name},
                        {"folder", version.folder},
                        {"index_version", version.index_version}});
  }
  const Json json = {{"format_version", kFormatVersion},
                     {"change", list.change},
                     {"current", list.current},
                     {"previous", list.previous},
                     {"versions", std::move(versions)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

StatusOr<VersionList> FirstVersionList(const IndexVersion& only) {
  return Changed({.change = 0, .current = only.name, .previous = "", .versions = {only}});
}

StatusOr<VersionList> AddVersion(VersionList list, const IndexVersion& version) {
  NEPTUNE_RETURN_IF_ERROR(CheckVersion(version));
  for (const IndexVersion& other : list.versions) {
    const bool same_name = other.name == version.name;
    const bool same_number = other.index_version == version.index_version;
    if (same_name && same_number) return list;
    if (same_number) {
      return FailedPrecondition("the same contents are published as '", other.name, "'");
    }
    if (same_name) {
      return FailedPrecondition("another version is published as '", other.name,
                                "'; versions never change: give this one another name");
    }
  }
  list.versions.push_back(version);
  return Changed(std::move(list));
}

StatusOr<VersionList> MakeCurrent(VersionList list, std::string_view name) {
  if (list.Find(name) == nullptr) return NoSuch(name);
  if (list.current == name) return list;
  list.previous = std::exchange(list.current, std::string(name));
  return Changed(std::move(list));
}

StatusOr<VersionList> RollBack(VersionList list) {
  if (list.previous.empty()) {
    return FailedPrecondition("there is no version before '", list.current, "' to go back to");
  }
  return MakeCurrent(list, list.previous);
}

StatusOr<VersionList> RemoveVersion(VersionList list, std::string_view name) {
  if (list.Find(name) == nullptr) return NoSuch(name);
  if (list.current == name) return FailedPrecondition("version '", name, "' is in use");
  std::erase_if(list.versions, [&](const IndexVersion& one) { return one.name == name; });
  if (list.previous == name) list.previous.clear();
  return Changed(std::move(list));
}

std::vector<std::string> Superfluous(const VersionList& list, size_t count) {
  std::vector<std::string> names;
  size_t left = list.versions.size();
  for (const IndexVersion& version : list.versions) {
    if (left <= count) break;
    if (version.name == list.current || version.name == list.previous) continue;
    names.push_back(version.name);
    --left;
  }
  return names;
}

}  // namespace search::index
