#include "frontend/policy/site_note.h"

#include <algorithm>

#include "frontend/policy/site_names.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using index::TierSite;
using neptune::StrAppend;
using neptune::StrCat;

std::string Listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) StrAppend(&list, list.empty() ? "" : ", ", name);
  return list;
}

// True if `name` is another name of the documents that `site` has too: `cppreference-doc` beside
// `cppreference`, and `python.org` beside `docs.python.org`.
bool IsOtherName(const TierSite& name, const TierSite& site) {
  return name.document_count() == site.document_count() &&
         (BeginsSite(site.name(), name.name()) || EndsSite(name.name(), site.name()));
}

// The names to show, the largest sites first, each site once.
std::vector<const TierSite*> DistinctSites(const index::TierAnswer& hits) {
  std::vector<const TierSite*> sites;
  for (const TierSite& name : hits.sites()) {
    const bool is_other = std::any_of(hits.sites().begin(), hits.sites().end(),
                                      [&](const auto& site) { return IsOtherName(name, site); });
    if (!is_other) sites.push_back(&name);
  }
  std::stable_sort(sites.begin(), sites.end(), [](const TierSite* a, const TierSite* b) {
    return a->document_count() > b->document_count();
  });
  return sites;
}

}  // namespace

std::string SiteNote(const std::vector<std::string>& filters, const index::TierAnswer& hits) {
  if (hits.total() > 0 || hits.sites().empty()) return "";
  std::vector<std::string> unknown;
  for (const std::string& filter : filters) {
    const auto& found = hits.found_sites();
    if (unknown.size() == kUnknownSitesMax) break;
    if (std::find(found.begin(), found.end(), filter) == found.end()) unknown.push_back(filter);
  }
  if (unknown.empty()) return "";
  const std::vector<const TierSite*> sites = DistinctSites(hits);
  std::vector<std::string> names;
  for (const TierSite* site : sites) {
    if (names.size() < kNotedSitesMax) names.push_back(site->name());
  }
  std::sort(names.begin(), names.end());
  return StrCat(unknown.size() == 1 ? "There is no site " : "There are no sites ", Listed(unknown),
                sites.size() > kNotedSitesMax ? ". The largest sites are: " : ". The sites are: ",
                Listed(names), ".");
}

}  // namespace search::frontend
