#include "tools/publish/cluster_versions.h"

#include <poll.h>
#include <time.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "index/versions/version_watch.h"
#include "neptune/base/file.h"
#include "neptune/base/foreign_json.h"
#include "neptune/base/strings.h"
#include "tools/http/http_get.h"

namespace search::tools {
namespace {

using index::VersionList;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::TimePoint;
using nlohmann::json;

constexpr int kPollMs = 50;
constexpr size_t kPageSizeMax = size_t{4} << 20;
constexpr std::chrono::milliseconds kPageTimeout{2'000};

TimePoint MonotonicNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return TimePoint(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

std::string PagePath(const std::string& service) {
  std::string path = "/statusz?format=json&section=";
  for (const char c : index::VersionSectionName(service)) {
    path += c == ' ' ? std::string("%20") : std::string(1, c);
  }
  return path;
}

}  // namespace

StatusOr<VersionFacts> ParseVersionFacts(std::string_view status_page) {
  const auto page = neptune::ReadForeignJson(status_page, {.size_max = kPageSizeMax});
  if (!page.ok())
    return neptune::DataLoss("no status page about versions: ",
                             neptune::ToStd(page.status().message()));
  try {
    const json facts = page->at("sections").at(0).at("facts");
    return VersionFacts{facts.at("change"), facts.at("current"), facts.at("trouble")};
  } catch (const json::exception& error) {
    return neptune::DataLoss("no status page about versions: ", error.what());
  }
}

StatusOr<std::optional<VersionList>> ClusterVersions::Load() {
  const auto text = neptune::ReadFile(options_.list_path, index::kVersionListSizeMax);
  if (text.status().code() == neptune::StatusCode::kNotFound) return std::optional<VersionList>();
  NEPTUNE_RETURN_IF_ERROR(text.status());
  auto list = index::ParseVersionList(*text);
  if (!list.ok()) return neptune::Annotate(list.status(), options_.list_path);
  return std::optional<VersionList>(*std::move(list));
}

Status ClusterVersions::Store(const VersionList& list) {
  return neptune::WriteFileAtomically(options_.list_path, index::VersionListJson(list));
}

StatusOr<VersionFacts> ClusterVersions::Ask(const std::string& node,
                                            const std::string& service) const {
  const auto started = state_.ReadStarted(node);
  if (!started) return neptune::Unavailable("the node has not started");
  NEPTUNE_ASSIGN_OR_RETURN(const HttpOrigin origin, ParseHttpOrigin(started->admin));
  NEPTUNE_ASSIGN_OR_RETURN(const auto response,
                           HttpGet(origin, PagePath(service), {}, {.timeout = kPageTimeout}));
  return ParseVersionFacts(response.body);
}

std::string ClusterVersions::Lagging(const VersionList& list, bool* trouble) const {
  *trouble = false;
  for (const VersionedService& service : cluster_.services) {
    for (const std::string& node : service.nodes) {
      if (state_.IsHeld(node)) continue;  // a drained node loads the list when it returns
      const auto facts = Ask(node, service.service);
      if (facts.ok() && facts->change == list.change && facts->trouble.empty()) continue;
      *trouble = facts.ok() && !facts->trouble.empty();
      return StrCat(service.service, " on ", node, ": ",
                    !facts.ok()              ? neptune::ToStd(facts.status().message())
                    : facts->trouble.empty() ? "it has an older list"
                                             : facts->trouble);
    }
  }
  return "";
}

Status ClusterVersions::Await(const VersionList& list) {
  if (!state_.Supervisor().ok()) return neptune::OkStatus();
  const TimePoint begin = MonotonicNow();
  TimePoint well = begin;  // the last time at which no node reported an error
  while (true) {
    bool trouble = false;
    const std::string lagging = Lagging(list, &trouble);
    if (lagging.empty()) return neptune::OkStatus();
    const TimePoint now = MonotonicNow();
    if (!trouble) well = now;
    if (now - well > options_.trouble_max) return neptune::Unavailable(lagging);
    if (now - begin > options_.wait) return neptune::DeadlineExceeded(lagging);
    poll(nullptr, 0, kPollMs);
  }
}

}  // namespace search::tools
