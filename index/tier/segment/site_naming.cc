#include "index/tier/segment/site_naming.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "index/core/segment/site_list.h"

namespace search::index {
namespace {

using Site = std::pair<std::string, uint64_t>;  // a name and its documents

neptune::StatusOr<bool> Exists(const std::vector<NamedSegment>& segments, const std::string& name) {
  for (const NamedSegment& part : segments) {
    NEPTUNE_ASSIGN_OR_RETURN(const uint32_t count, CountSite(*part.segment, part.live, name));
    if (count > 0) return true;
  }
  return false;
}

bool IsLarger(const Site& a, const Site& b) {
  return a.second != b.second ? a.second > b.second : a.first < b.first;
}

}  // namespace

neptune::Status NameSites(const std::vector<NamedSegment>& segments,
                          std::vector<std::string> filters, const std::function<bool()>& stop,
                          TierAnswer* answer) {
  if (filters.empty()) return neptune::OkStatus();
  std::sort(filters.begin(), filters.end());
  filters.erase(std::unique(filters.begin(), filters.end()), filters.end());
  std::vector<std::string> found;
  for (std::string& name : filters) {
    if (stop && stop()) return neptune::OkStatus();
    NEPTUNE_ASSIGN_OR_RETURN(const bool exists, Exists(segments, name));
    if (exists) found.push_back(std::move(name));
  }
  std::map<std::string, uint64_t> counts;
  for (const NamedSegment& part : segments) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto sites, ListSites(*part.segment, part.live, stop));
    for (const SiteCount& site : sites) counts[site.name] += site.document_count;
  }
  if (stop && stop()) return neptune::OkStatus();
  for (const std::string& name : found) answer->add_found_sites(name);
  std::vector<Site> named(counts.begin(), counts.end());
  std::sort(named.begin(), named.end(), IsLarger);
  if (named.size() > kNamedSitesMax) named.resize(kNamedSitesMax);
  std::sort(named.begin(), named.end());
  for (const auto& [name, count] : named) {
    TierSite* const site = answer->add_sites();
    site->set_name(name);
    site->set_document_count(count);
  }
  return neptune::OkStatus();
}

}  // namespace search::index
